"""The server of the studio: one robot, one page, a few requests; on the loopback address only."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.studio.answers import Answers

HOST = "127.0.0.1"
PAGE = {
    "/": ("studio/page/page.html", "text/html; charset=utf-8"),
    "/page.css": ("studio/page/page.css", "text/css; charset=utf-8"),
    "/page.js": ("studio/page/page.js", "text/javascript; charset=utf-8"),
    "/view.js": ("share/page/view.js", "text/javascript; charset=utf-8"),
}
QUESTIONS = ("about", "state", "motion", "simulation", "equations")
LONGEST_QUESTION = 100_000
"""Bytes."""
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"


class _Server(ThreadingHTTPServer):
    """Requests run in threads; the robot answers one at a time."""

    daemon_threads = True
    answers: Answers

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.lock = threading.Lock()


@dataclass
class Studio:
    """A running studio."""

    robot: Robot
    port: int = 0
    server: _Server = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            self.server = _Server((HOST, self.port), _Handler)
        except OSError as error:
            raise ArmdynError(f"port {self.port} cannot be used: {error.strerror}", where="studio",
                              advice="Choose another one; --port 0 takes any free port") from None  # fmt: skip
        self.port = self.server.server_port
        self.server.answers = Answers(self.robot)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/"

    def start(self) -> Studio:
        """Serve in the background."""
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@takes(*CLOSED, *TREE)
def serve(robot: Robot, port: int = 0) -> Studio:
    """Start the studio of a robot in the background; `stop()` ends it."""
    return Studio(robot, port).start()


class _Handler(BaseHTTPRequestHandler):
    """GET returns the page, POST /api/QUESTION with a JSON object returns an answer."""

    server: _Server
    server_version = "armdyn"
    sys_version = ""

    def do_GET(self) -> None:
        if not self._from_here():
            return
        name, kind = PAGE.get(self.path.partition("?")[0], ("", ""))
        if not name:
            self._send(HTTPStatus.NOT_FOUND, b"not found", "text/plain")
            return
        self._send(HTTPStatus.OK, (files("armdyn") / name).read_bytes(), kind)

    def do_POST(self) -> None:
        if not self._from_here():
            return
        question = self.path.removeprefix("/api/")
        if question not in QUESTIONS:
            self._json(HTTPStatus.NOT_FOUND, {"what": f"unknown request: {question[:40]}"})
            return
        try:
            arguments = self._arguments()
            with self.server.lock:
                answer = getattr(self.server.answers, question)(**arguments)
        except ArmdynError as error:
            told = {key: getattr(error, key) for key in ("what", "where", "expected", "advice")}
            self._json(HTTPStatus.BAD_REQUEST, told)
        except TypeError:
            self._json(HTTPStatus.BAD_REQUEST, {"what": f"invalid arguments for {question}"})
        else:
            self._json(HTTPStatus.OK, answer)

    def _arguments(self) -> dict[str, Any]:
        """The JSON object of the request."""
        try:
            length = int(self.headers.get("Content-Length", "0"))
            if not 0 <= length <= LONGEST_QUESTION:
                raise ValueError
            given = json.loads(self.rfile.read(length) or b"{}")
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            raise ArmdynError("the request cannot be read", where="studio", expected="a JSON object")
        return given

    def _from_here(self) -> bool:
        """Accept only pages of this server: a page from elsewhere cannot send this Host with its own Origin."""
        port = self.server.server_port
        here = {f"{HOST}:{port}", f"localhost:{port}"}
        origin = self.headers.get("Origin")
        if self.headers.get("Host") in here and (origin is None or origin.removeprefix("http://") in here):
            return True
        self._send(HTTPStatus.FORBIDDEN, b"accepts requests only from this machine", "text/plain")
        return False

    def _json(self, status: HTTPStatus, answer: Any) -> None:
        self._send(status, json.dumps(answer, allow_nan=False).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"),
                            ("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", POLICY)):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing to the terminal."""
