"""Graphs in: packed storage, batching, subgraphs, readers, datasets, splits and checks."""
