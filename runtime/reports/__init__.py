"""Profiles and residency for people: terminal tables, pictures in text and SVG, one HTML page, traces, advice."""
