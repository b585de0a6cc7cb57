"""Instructions across the lanes of a warp as LLVM IR: shuffles, votes, products of matrices, mbarriers."""
