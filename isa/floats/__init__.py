"""Float arithmetic bit for bit: exact in float64, single precision, formats of 4 to 8 bits, conversions, the sums of the tensor cores."""
