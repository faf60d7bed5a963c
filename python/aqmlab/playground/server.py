"""A server of the built page, for this machine alone."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from aqmlab.playground.address import Address
from aqmlab.playground.built import PAGE, WIDGET, built

HOST = "127.0.0.1"

_TYPES = {PAGE: "text/html; charset=utf-8", WIDGET: "text/javascript; charset=utf-8"}
"""The files that are served, and their media types: no path leads to another one."""

OPEN = "/open"
"""Where the page sends files that its reader opens."""

LARGEST = 50_000_000
"""Bytes of these files together."""

Opener = Callable[[Mapping[str, bytes], Callable[[float], None]], Mapping[str, Any]]
"""Makes a scenario of files, by their names, and reports the part that is done."""


class Server(ThreadingHTTPServer):
    """The server; `serve_forever` lets it answer.

    Parameters
    ----------
    port : int
        The port; 0 for a free one.
    opener : callable
        Makes a scenario of the files that a reader of the page opens; without it there are none.

    Raises
    ------
    OSError
        If the port is in use, or not allowed.
    """

    def __init__(self, port: int = 0, opener: Opener | None = None) -> None:
        self.opener = opener
        super().__init__((HOST, port), _Handler)

    @property
    def origin(self) -> str:
        """The origin of the page, from which alone files are taken."""
        return f"http://{HOST}:{self.server_port}"

    def url(self, address: Address) -> str:
        """Return the URL of a view."""
        fragment = address.fragment
        return f"{self.origin}/{f'#{fragment}' if fragment else ''}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that has closed its connection."""


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Answer with a file."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Answer with the head of a file."""
        self._answer(body=False)

    def do_POST(self) -> None:
        """Answer with the scenario of files: lines of JSON with the part that is done, then the result or a problem."""
        length = self.headers.get("Content-Length", "")
        opener = self.server.opener
        if self.path != OPEN or opener is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        elif self.headers.get("Origin") != self.server.origin:
            self.send_error(HTTPStatus.FORBIDDEN, "another page may not send files")
        elif not length.isdecimal() or int(length) > LARGEST * 3 // 2:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            sent = self.rfile.read(int(length))
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "application/x-ndjson")
            self.end_headers()
            self._tell(_opened(opener, sent, lambda part: self._tell({"done": part})))

    def _tell(self, what: Mapping[str, Any]) -> None:
        self.wfile.write(json.dumps(what).encode() + b"\n")
        self.wfile.flush()

    def _answer(self, body: bool) -> None:
        name = urlsplit(self.path).path.removeprefix("/") or PAGE
        try:
            data = built(name).read_bytes() if name in _TYPES else None
        except OSError:
            data = None
        if data is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", _TYPES[name])
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")  # the page of another version may be at the same address
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def _opened(opener: Opener, sent: bytes, progress: Callable[[float], None]) -> Mapping[str, Any]:
    """Return the scenario of files as the page sends them, or the problem with them."""
    try:
        files = {name: base64.b64decode(text, validate=True) for name, text in json.loads(sent).items()}
    except (ValueError, AttributeError, TypeError, binascii.Error):
        return {"problem": "not the files of a page"}
    try:
        return opener(files, progress)
    except (OSError, ValueError) as error:
        return {"problem": str(error)}
