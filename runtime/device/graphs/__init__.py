"""Work that is recorded and replayed: streams, graphs, and what graphs hold."""
