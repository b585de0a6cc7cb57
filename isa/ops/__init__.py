"""Every instruction family: importing this package fills notation.FORMS."""

from importlib import import_module

FAMILIES = (
    "data", "control", "integer", "carry", "bits", "logic", "compare", "video", "float32", "float64", "half", "approx", "convert",
    "warp", "atomic", "async_", "mbarrier", "cache", "fence", "texture", "fabric", "matrix", "mma", "wmma", "wgmma", "tcgen05",
)  # fmt: skip

for _family in FAMILIES:
    import_module(f".{_family}", __name__)
