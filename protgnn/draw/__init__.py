"""Pictures of graphs, of reasonings and of whole runs: SVG made by hand, PNG and HTML made from it."""
