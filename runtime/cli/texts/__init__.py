"""Commands about PTX texts and object files."""
