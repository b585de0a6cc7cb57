"""The driver's calls about memory: linear, arrays, pools, mappings, and copies between them."""
