"""Profiles as pages of HTML."""
