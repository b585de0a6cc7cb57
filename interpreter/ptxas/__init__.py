"""What ptxas makes of PTX, as far as it shows in results or counters."""
