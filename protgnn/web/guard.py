"""Who is let in: hosts, origins, the token, and the headers that keep a page to itself.

The explorer is for those who were given its address. A page of somebody else, open in the same browser, must neither
read from it (no answer allows another origin) nor write to it (a request that changes or computes something must come
from the explorer's own page and carries a header that no form can send). Names that point to this machine by trickery
are refused by the ``Host`` header.
"""

from __future__ import annotations

import contextlib
import hmac
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from h11 import LocalProtocolError
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-protgnn"
"""The header that the page sends with whatever is no plain look; no form and no link can."""

_READING = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Door:
    """Under which names the explorer answers, and what opens it.

    ``hosts`` are values of the ``Host`` header; ``cookie`` is a word that tells the cookies of two explorers on one
    machine apart, since browsers do not tell ports apart; ``token`` is asked for where other machines can reach it.
    """

    hosts: frozenset[str]
    cookie: str
    token: str | None = None

    @property
    def token_cookie(self) -> str:
        return f"{self.cookie}-token"

    def opens(self, given: str | None) -> bool:
        """Whether a token is the right one; always where none is asked for."""
        if self.token is None:
            return True
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


class Guard:
    """Turns away who must not be served, and seals every answer; an ASGI middleware."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":  # no web sockets here
            return await send({"type": "websocket.close", "code": 1008})
        sealed = _sealing(send, scope["path"])
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._door.hosts:
            return await _refuse(sealed, 421, "This is not the address under which the explorer was started")
        fault = self._foreign(scope["method"], headers)
        if fault is not None:
            return await _refuse(sealed, 403, fault)
        given = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=None).get("token", [None])[0]
        if self._door.token is not None and given is not None and scope["path"] == "/":
            if not self._door.opens(given):
                return await _refuse(sealed, 403, "This token is not the one that `protgnn explore` printed")
            return await self._admit(sealed)
        if not self._door.opens(cookie(headers, self._door.token_cookie)):
            return await _refuse(sealed, 403, "Open the address with the token that `protgnn explore` printed")
        await self._app(scope, receive, sealed)

    def _foreign(self, method: str, headers: Headers) -> str | None:
        """What tells that a request does not come from the explorer's own page; nothing where all is well."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self._door.hosts}:
            return "Another page asked for this: open the explorer itself"
        if site not in ("same-origin", "none") and headers.get("sec-fetch-mode") != "navigate":
            return "Another page asked for this: open the explorer itself"
        if method not in _READING and headers.get(HEADER) is None:
            return f"Expected the header {HEADER}, which the explorer's own page sends"
        return None

    async def _admit(self, send: Send) -> None:
        """Give the token as a cookie, and show the page without it in the address."""
        value = f"{self._door.token_cookie}={self._door.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", value.encode())]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def cookie(headers: Headers, name: str) -> str | None:
    """One cookie of a request; none where it is not there or the header cannot be read."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if found is None else found.value


def _sealing(send: Send, path: str) -> Callable[[Message], Awaitable[None]]:
    """``send`` with the headers that every answer has."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", [])))
            for name, value in _HEADERS.items():
                headers[name] = value
            if "cache-control" not in headers:
                headers["cache-control"] = "no-cache" if path.startswith("/static/") else "no-store"
            message = {**message, "headers": headers.raw}
        with contextlib.suppress(LocalProtocolError):  # the request broke off, and was answered by the server itself
            await send(message)

    return sealed


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps({"error": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
