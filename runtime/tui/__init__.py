"""The debugger as a full screen, with textual (the extra `tui`)."""
