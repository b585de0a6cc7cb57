"""What ptxas makes of PTX: which products and sums it fuses, how many registers it needs."""
