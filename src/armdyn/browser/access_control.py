"""Who may talk to the studio: the page that this process opened, on this machine, and nobody else.

viser answers anyone who can reach its port. Every request passes here first: it must name this machine as its host,
come from this page, and carry the token of this process, which arrives once in the address and is then kept in a cookie
that no script and no other site can use.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

HOST = "127.0.0.1"
COOKIE = "armdyn_studio"
MOST_CONNECTIONS = 24
"""Most pages that may be open at the same time."""
LIMITS = {
    "max_size": 16 * 2**20,
    "max_queue": 64,
    "open_timeout": 10,
    "close_timeout": 5,
    "ping_interval": 20,
    "ping_timeout": 40,
}
"""Limits of one connection: bytes of a message, number of queued messages, seconds until it times out."""
POLICY = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; "
    "connect-src 'self' data: blob: ws://{host}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_LETTERS = "[A-Za-z0-9_-]"


@dataclass
class AccessControl:
    """The check of all requests to one port.

    opened: called with the `state` of the address when the page is opened with one.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    port: int = 0
    connections: int = 0
    opened: Callable[[str], None] | None = None

    def refusal(self, path: str, host: str | None, origin: str | None, cookie: str | None) -> str:
        """Why a request is refused; empty if it may pass."""
        here = {f"{HOST}:{self.port}", f"localhost:{self.port}"}
        if host not in here:
            return "this address is not the studio's"
        if origin is not None and origin.removeprefix("http://") not in here:
            return "pages from elsewhere are not answered"
        if not self._known(path, cookie):
            return "open the address that `armdyn studio` printed: it contains a token"
        return ""

    def _known(self, path: str, cookie: str | None) -> bool:
        given = re.findall(rf"[?&]token=({_LETTERS}+)", path)
        given += re.findall(rf"(?:^|;\s*){COOKIE}=({_LETTERS}+)", cookie or "")
        return any(hmac.compare_digest(each, self.token) for each in given)

    def refused(self, request: Any) -> str:
        """Why a request of the websocket server is refused; empty if it may pass."""
        found = {name: request.headers.get_all(name) for name in ("Host", "Origin", "Cookie", "Upgrade")}
        if any(len(values) > 1 for values in found.values()):
            return "headers are given twice"
        host, origin, cookie, upgrade = (values[0] if values else None for values in found.values())
        if upgrade and origin is None:
            return "a page names its origin"
        return self.refusal(request.path, host, origin, cookie)

    def wrapped(self, answer: Any) -> Any:
        """The function that answers requests, asked only after the check."""

        async def process(connection: Any, request: Any) -> Any:
            why = self.refused(request)
            if why:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
            reply = answer(connection, request)
            reply = await reply if hasattr(reply, "__await__") else reply
            if reply is not None:
                reply.headers["Set-Cookie"] = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                reply.headers["Content-Security-Policy"] = POLICY.format(host=request.headers["Host"])
                reply.headers["Referrer-Policy"] = "no-referrer"
                reply.headers["X-Content-Type-Options"] = "nosniff"
                state = re.search(rf"[?&]state=({_LETTERS}+)", request.path)
                if state and self.opened:
                    self.opened(state[1])
            return reply

        return process

    def limited(self, handler: Any) -> Any:
        """The function that serves a connection, for MOST_CONNECTIONS at the same time."""

        async def serve(connection: Any) -> None:
            if self.connections >= MOST_CONNECTIONS:
                await connection.close(1013, "too many pages are open")
                return
            self.connections += 1
            try:
                await handler(connection)
            finally:
                self.connections -= 1

        return serve


@contextmanager
def guarded(gate: AccessControl) -> Iterator[None]:
    """While this holds, a websocket server that is started asks the gate before it answers anything."""
    from websockets.asyncio import server

    original: Any = server.serve

    def serve(handler: Any, *arguments: Any, **options: Any) -> Any:
        options["process_request"] = gate.wrapped(options["process_request"])
        return original(gate.limited(handler), *arguments, **(options | LIMITS))

    vars(server)["serve"] = serve
    try:
        yield
    finally:
        vars(server)["serve"] = original
