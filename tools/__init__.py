"""Programs of the developers: they write the generated pages and the tables of CUDA's names."""
