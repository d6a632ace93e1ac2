"""One file per format, each with its ``READERS``; ``reader`` says what a reader is and finds them.

``rows`` is shared by files of raw inputs, ``columns`` by tables of features. No format knows another.
"""

__all__: list[str] = []
