"""initcheck: unset values and their uses."""
