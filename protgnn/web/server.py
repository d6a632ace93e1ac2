"""Serving the explorer: where it listens, under which names it answers, and the address to open."""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass

from protgnn.errors import ProtGNNError
from protgnn.web.explorer import Explorer
from protgnn.web.guard import AccessRules

_MOST_AT_ONCE = 512


@dataclass(frozen=True)
class Address:
    """Where the explorer listens, who is let in, and what to open in a browser."""

    listening: socket.socket
    access: AccessRules
    url: str


def bind(host: str, port: int) -> Address:
    """Take a port; 0 takes any that is free.

    Where other machines can reach the explorer, its address has a token, and without it nobody is let in.

    Raises:
        ProtGNNError: The port is taken, or the host is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol said, asyncio sends small answers at once; else each may wait 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ProtGNNError(f"Cannot listen on {host}:{port} ({error.strerror}): choose another --port") from None
    taken: int = listening.getsockname()[1]
    alone = is_loopback(host)
    token = None if alone else secrets.token_urlsafe(24)
    names = {"127.0.0.1", "localhost", "[::1]"} if alone else _names(host)
    access = AccessRules(frozenset(f"{name}:{taken}" for name in names), f"protgnn-{taken}", token)
    shown = host if ":" not in host else f"[{host}]"
    if host in ("0.0.0.0", "::"):
        shown = socket.gethostname().lower()
    return Address(listening, access, f"http://{shown}:{taken}/" + ("" if token is None else f"?token={token}"))


def serve(explorer: Explorer, address: Address, when_ready: Callable[[], None] | None = None) -> None:
    """Answer until the user stops it with Ctrl-C.

    Raises:
        ProtGNNError: The extra ``web`` is not installed.
    """
    import uvicorn

    from protgnn.web.app import make_app

    config = uvicorn.Config(
        make_app(explorer, address.access),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=_MOST_AT_ONCE,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=32_768,
        http="h11",
    )
    server = uvicorn.Server(config)
    if when_ready is not None:
        when_ready()
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[address.listening])


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _names(host: str) -> set[str]:
    """What a browser may call a machine that listens on a host."""
    names = {"127.0.0.1", "localhost", socket.gethostname().lower(), socket.getfqdn().lower()}
    if host in ("0.0.0.0", "::"):
        with contextlib.suppress(OSError):
            names |= {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)}
    else:
        names.add(f"[{host}]" if ":" in host else host.lower())
    return {f"[{name}]" if ":" in name and not name.startswith("[") else name for name in names}
