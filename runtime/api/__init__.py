"""CUDA's driver and runtime API as tables: names, versions, parameters, results."""
