"""Data that comes with the package or is generated, one file per dataset; ``tables`` holds what is shipped."""

__all__: list[str] = []
