"""The command line: one file per group of commands, each of which parses, calls the library and prints.

==================  ==========================================================================
``main``            assembles the commands and turns mistakes into one message
``options``         the options that several commands share
``console``         everything that is printed
``data``            ``data list``, ``data show``
``train``           ``train``
``evaluate``        ``evaluate``
``predict``         ``predict``
``explain``         ``explain``
``prototypes``      ``prototypes``, also with edits
``compare``         ``compare``
``report``          ``report``
``explore``         ``explore``
``figures``         ``figure tsne``, ``figure cosine``, ``figure over-m``, ``figure grid``
``sweep``           ``sweep``
``demo``            ``demo``
==================  ==========================================================================

Library code is imported inside the commands, so that ``protgnn --help`` is quick.
"""

__all__: list[str] = []
