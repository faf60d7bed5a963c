"""A server of the built page, for this machine alone."""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from aqmlab.playground.address import Address
from aqmlab.playground.built import PAGE, WIDGET, built

HOST = "127.0.0.1"

_TYPES = {PAGE: "text/html; charset=utf-8", WIDGET: "text/javascript; charset=utf-8"}
"""The files that are served, and their media types: no path leads to another one."""


class Server(ThreadingHTTPServer):
    """The server; `serve_forever` lets it answer.

    Parameters
    ----------
    port : int
        The port; 0 for a free one.

    Raises
    ------
    OSError
        If the port is in use, or not allowed.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)

    def url(self, address: Address) -> str:
        """Return the URL of a view."""
        fragment = address.fragment
        return f"http://{HOST}:{self.server_port}/{f'#{fragment}' if fragment else ''}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that has closed its connection."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer with a file."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Answer with the head of a file."""
        self._answer(body=False)

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
