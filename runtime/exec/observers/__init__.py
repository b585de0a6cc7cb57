"""What a run is watched with: profiles, checkers, logs, records."""
