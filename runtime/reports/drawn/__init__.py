"""Pictures, as SVG and as text."""
