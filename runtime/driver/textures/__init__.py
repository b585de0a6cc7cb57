"""The driver's calls about textures, surfaces and tensor maps."""
