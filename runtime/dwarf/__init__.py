"""Variables of the source by their names, types and scopes, where the PTX carries DWARF; see README.md."""
