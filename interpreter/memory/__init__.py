"""The memories that a launch can address, and the loads, stores and atomic operations on them."""
