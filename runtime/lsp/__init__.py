"""`warplab lsp`: the Language Server Protocol over what assembler/editing knows of a text; what CUDA C++ is told comes from its PTX and its runs."""
