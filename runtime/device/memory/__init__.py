"""One address space for the host and all devices: allocations, arrays, textures, and what is mapped where."""
