"""What a function does, as data: from a checked function to segments of operations on slots."""
