"""`celltrain lab`: the engine live in a browser, on a page of this machine."""

from pathlib import Path
from typing import Annotated

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import InputError
from celltrain.lab.link import PAGE, fragment

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


def lab(
    scenario: Annotated[
        str | None, typer.Argument(metavar="[SCENARIO]", help="A scenario file (TOML) to start with.")
    ] = None,
    set_: options.Set = None,
    port: Annotated[
        int,
        typer.Option(metavar="P", min=0, max=65535, help="Serve the page on this port. 0: any free port."),
    ] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    link: Annotated[
        bool, typer.Option("--link", help="Print the address of the page as a file and exit. No server runs.")
    ] = False,
) -> None:
    """Open the lab: the same engine, live in a browser.

    The page is served on this machine.
    """
    built = page()
    suffix = ""
    if scenario is not None:
        loaded = options.load_scenario(scenario, set_)
        suffix = "#" + fragment(Path(scenario).name, loaded.to_toml())
    elif set_:
        raise InputError("--set needs a SCENARIO")
    if link:
        if port:
            raise InputError("--port is for the server, and --link starts none: leave one of them out")
        terminal.say(built.as_uri() + suffix)
        return
    # The other commands need neither of them, and they take longer to load than all the rest.
    import webbrowser

    from celltrain.lab.server import server

    with server(built.read_bytes(), port) as serving:
        address = f"http://127.0.0.1:{serving.server_address[1]}/{suffix}"
        terminal.say(address)
        terminal.note("press Ctrl-C to stop the server")
        if show:
            webbrowser.open(address)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            terminal.note("stopped")
