"""The search for the subgraph nearest to a prototype, and the projection built on it."""
