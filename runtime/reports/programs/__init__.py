"""What whole programs did."""
