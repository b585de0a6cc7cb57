"""racecheck: who last touched each word, and whether that is ordered with who touches it now."""
