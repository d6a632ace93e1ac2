"""``protgnn explore``: a run in the browser, to ask, look around, edit and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protgnn.cli.console import print_line, say
from protgnn.cli.options import RunFolder
from protgnn.cli.preflight import check_run
from protgnn.errors import ProtGNNError


def explore(
    run: RunFolder,
    other: Annotated[Path | None, typer.Argument(metavar="[RUN2]", help="A second run to compare with.")] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; if other machines can reach it, visitors need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 8765,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Explore a run in the browser: ask, look around, edit, compare.  Example: protgnn explore runs/demo"""
    for folder in filter(None, (run, other)):
        check_run(folder)
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise ProtGNNError("The explorer needs Starlette and uvicorn: pip install 'protgnn[web]'") from None
    from protgnn.web.app import EDITOR
    from protgnn.web.explorer import Explorer
    from protgnn.web.server import bind, serve
    from protgnn.web.server_limits import limit_readers

    address = bind(host, port)
    explorer = Explorer.open(run, other)
    for view in filter(None, (explorer.first, explorer.second)):
        if view.opened.data is None:
            say(f"no held-out rows for {view.opened.folder}: {view.opened.without_data}")
    if explorer.first.opened.run.schema.kind == "molecule" and not EDITOR.is_file():
        say("no molecule editor: type SMILES and click atoms to remove them (docs/explorer.md says how to add it)")
    limit_readers()
    print_line(f"The explorer is at {address.url}  (Ctrl-C stops it)", bold=True)
    serve(explorer, address, (lambda: _open(address.url)) if browser else None)


def _open(url: str) -> None:
    """Open a page once the server has had a moment to start."""
    import threading
    import webbrowser

    timer = threading.Timer(1.0, webbrowser.open, [url])
    timer.daemon = True
    timer.start()
