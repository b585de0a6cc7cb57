"""Operations of a plan as LLVM IR: a function for each pass."""
