"""Meanings of rows as LLVM IR: symbolic arrays record what a meaning does with them."""
