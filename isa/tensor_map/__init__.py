"""Tensor maps: what a descriptor holds, which of them the encoder makes, and where the elements of a copied box lie."""
