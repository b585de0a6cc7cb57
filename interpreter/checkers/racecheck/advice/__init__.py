"""What the text of a program says of two accesses that race: why nothing orders them, and what would."""
