"""ProtGNN: graph classifiers that show their work."""

__version__ = "0.1.0"
