"""Access control: allowed hosts and origins, the token, and security headers.

Another site open in the same browser must neither read from the explorer (no response allows a foreign origin) nor
write to it (CSRF: a request that changes or computes something must carry a header that no form can send). DNS
rebinding fails because the ``Host`` header must name an allowed host.
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
"""The page sends this header with every request except GET and HEAD; forms and links cannot send it."""

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
class AccessRules:
    """Which requests are served.

    Attributes:
        hosts: The allowed values of the ``Host`` header.
        cookie: The name of the session cookie. Browsers share cookies between ports, so each explorer has its own name.
        token: The secret that a visitor must present; ``None`` if only this machine can reach the explorer.
    """

    hosts: frozenset[str]
    cookie: str
    token: str | None = None

    @property
    def token_cookie(self) -> str:
        return f"{self.cookie}-token"

    def accepts(self, given: str | None) -> bool:
        """Whether this token is the right one; always true if none is required."""
        if self.token is None:
            return True
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


class Guard:
    """ASGI middleware that refuses forbidden requests and adds security headers to every response."""

    def __init__(self, app: ASGIApp, access: AccessRules) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":  # no web sockets here
            return await send({"type": "websocket.close", "code": 1008})
        sealed = _sealing(send, scope["path"])
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._access.hosts:
            return await _refuse(sealed, 421, "This is not the address under which the explorer was started")
        fault = self._foreign(scope["method"], headers)
        if fault is not None:
            return await _refuse(sealed, 403, fault)
        given = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=None).get("token", [None])[0]
        if self._access.token is not None and given is not None and scope["path"] == "/":
            if not self._access.accepts(given):
                return await _refuse(sealed, 403, "This token is not the one that `protgnn explore` printed")
            return await self._admit(sealed)
        if not self._access.accepts(cookie(headers, self._access.token_cookie)):
            return await _refuse(sealed, 403, "Open the address with the token that `protgnn explore` printed")
        await self._app(scope, receive, sealed)

    def _foreign(self, method: str, headers: Headers) -> str | None:
        """The reason to refuse a request that another page sent; ``None`` for one of the explorer's own page."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self._access.hosts}:
            return "Another page asked for this: open the explorer itself"
        if site not in ("same-origin", "none") and headers.get("sec-fetch-mode") != "navigate":
            return "Another page asked for this: open the explorer itself"
        if method not in _READING and headers.get(HEADER) is None:
            return f"Expected the header {HEADER}, which the explorer's own page sends"
        return None

    async def _admit(self, send: Send) -> None:
        """Store the token in a cookie and redirect to the address without it."""
        value = f"{self._access.token_cookie}={self._access.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", value.encode())]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def cookie(headers: Headers, name: str) -> str | None:
    """The value of a cookie; ``None`` if it is missing or the header is malformed."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if found is None else found.value


def _sealing(send: Send, path: str) -> Callable[[Message], Awaitable[None]]:
    """Wrap ``send`` so that every response has the security headers."""

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
