"""What an editor asks about a PTX text, which is broken most of the time: each question is one file, each answer a plain value with offsets."""
