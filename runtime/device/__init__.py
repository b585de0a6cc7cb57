"""One device's state as a host program sees it: memory, modules, launches, streams, and the error that sticks."""
