"""The server of the lab's page, on this machine. A module of its own: what it imports is slow to load."""

from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["server"]


class _Handler(BaseHTTPRequestHandler):
    """Hands out one page and nothing else."""

    def __init__(self, content: bytes, *args: object) -> None:
        self.content = content
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path.split("?")[0] not in ("/", "/index.html"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: object) -> None:
        pass


def server(content: bytes, port: int) -> ThreadingHTTPServer:
    """A server of one page.

    Args:
        content: the page.
        port: where it listens; 0 for any free port.
    """
    return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, content))
