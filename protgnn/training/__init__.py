"""The recipe, the loop of Algorithm 1, and run directories."""
