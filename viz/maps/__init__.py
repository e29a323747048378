"""Maps with a row for each query and a column for each key, and maps of all heads."""
