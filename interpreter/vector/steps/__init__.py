"""The operations and ends of a plan as functions of the registers."""
