"""What groups wait for: barriers, lanes of their warp, what others write; and the proof that nobody can go on."""
