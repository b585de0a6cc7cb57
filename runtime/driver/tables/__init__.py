"""The driver's enums, structures, constants and signatures as tables, and what makes classes of them."""
