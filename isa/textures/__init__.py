"""Textures and surfaces: what they are made of, and how texels become values."""
