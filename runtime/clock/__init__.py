"""The host's and the devices' time, as a model predicts it: what calls, copies and launches cost, and which of them overlap."""
