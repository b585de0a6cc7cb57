"""The Debug Adapter Protocol: editors look at recorded launches, see README.md."""
