"""`celltrain lab`: the engine live in a browser, on a page of this machine."""

import webbrowser
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import InputError
from celltrain.lab_link import PAGE, fragment

__all__ = ["lab", "page"]


def page() -> Path:
    """The page of the lab.

    Raises:
        InputError: This installation has none.
    """
    if not PAGE.is_file():
        raise InputError(
            f"this installation has no page of the lab ({PAGE} is missing): "
            "run `make lab` in a checkout, or install a wheel that was built after it"
        )
    return PAGE


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


def lab(
    scenario: Annotated[
        str | None, typer.Argument(metavar="[SCENARIO]", help="A scenario file (TOML) to start with.")
    ] = None,
    set_: options.Set = None,
    port: Annotated[
        int, typer.Option(metavar="P", min=0, max=65535, help="Port of the local server. 0: any free port.")
    ] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    link: Annotated[
        bool, typer.Option("--link", help="Print the address of the page as a file and exit. No server runs.")
    ] = False,
) -> None:
    """Open the lab: the same engine, live in a browser, served on this machine."""
    built = page()
    suffix = ""
    if scenario is not None:
        loaded = options.load_scenario(scenario, set_)
        suffix = "#" + fragment(Path(scenario).name, loaded.to_toml())
    elif set_:
        raise InputError("--set needs a SCENARIO")
    if link:
        terminal.say(built.as_uri() + suffix)
        return
    handler = partial(_Handler, built.read_bytes())
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/{suffix}"
        terminal.say(address)
        terminal.note("press Ctrl-C to stop the server")
        if show:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            terminal.note("stopped")
