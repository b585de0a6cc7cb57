"""The vocabulary: types, state spaces, special registers, device profiles, and every instruction with its meaning."""
