"""Tree formats: rs3, rs4, dis, rsd, json, and drawings."""
