"""Text that goes into XML."""

from __future__ import annotations


def xml_text(text: str) -> str:
    """Text without the characters that XML can't hold."""
    return "".join(
        c if c in "\t\n\r" or (c >= " " and not 0xD800 <= ord(c) <= 0xDFFF and ord(c) not in (0xFFFE, 0xFFFF)) else "?" for c in text
    )
