"""An explorer on a small run of molecules, as an application and behind a real port."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from protgnn.cli.main import main
from protgnn.web.app import make_app
from protgnn.web.explorer import Explorer
from protgnn.web.guard import AccessRules
from protgnn.web.server import bind

HOST = "127.0.0.1:8765"
HEADERS = {"x-protgnn": "explorer"}


@pytest.fixture(scope="session")
def other_run(molecules_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the split of ``mined_run`` that compares whole graphs, and knows next to nothing."""
    folder = tmp_path_factory.mktemp("runs") / "other"
    few = ["seed=1", "epochs=2", "hidden=8", "prototypes=2", "anchored_epochs=1", "search_iterations=2"]
    settings = [part for setting in few for part in ("--set", setting)]
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--out", str(folder), *settings])
    assert not end.value.code
    return folder


@pytest.fixture(scope="session")
def explorer(mined_run: Path) -> Explorer:
    """What the application answers from; visitors come and go."""
    return Explorer.open(mined_run)


@pytest.fixture
def visitor(explorer: Explorer) -> Iterator[Callable[[], TestClient]]:
    """A new visitor, who has opened the page."""
    opened: list[TestClient] = []

    def come() -> TestClient:
        app = make_app(explorer, AccessRules(frozenset({HOST}), "protgnn-8765"))
        client = TestClient(app, base_url=f"http://{HOST}", headers=HEADERS, raise_server_exceptions=True)
        assert client.get("/").status_code == 200
        opened.append(client)
        return client

    yield come
    for client in opened:
        client.close()


@pytest.fixture
def client(visitor: Callable[[], TestClient]) -> TestClient:
    """One visitor."""
    return visitor()


@pytest.fixture
def base_visitor(base_run: Path) -> Iterator[TestClient]:
    """A visitor of a run that predicts one class without any evidence."""
    app = make_app(Explorer.open(base_run), AccessRules(frozenset({HOST}), "protgnn-8765"))
    with TestClient(app, base_url=f"http://{HOST}", headers=HEADERS) as client:
        assert client.get("/").status_code == 200
        yield client


@pytest.fixture(scope="session")
def served() -> Iterator[Callable[[Explorer], str]]:
    """Serve an explorer on a free port of this machine; its address."""
    servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    def serve(explorer: Explorer) -> str:
        address = bind("127.0.0.1", 0)
        config = uvicorn.Config(make_app(explorer, address.access), log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [address.listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        servers.append((server, thread))
        return address.url

    yield serve
    for server, thread in servers:
        server.should_exit = True
        thread.join(timeout=10)
