"""``python -m protgnn``: the command line, where its script is not on the path."""

from protgnn.cli.main import main

if __name__ == "__main__":
    main()
