"""Commands about recorded launches."""
