"""The command `celltrain`.

Results go to stdout or to files, messages and progress to stderr. Exit codes: 0 success, 1 a claim or check
failed, 2 bad input, 3 a defect of celltrain, 130 interrupted, 141 the reader of the output closed it,
143 terminated.
"""

import atexit
import os
import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Runs the command line and exits with its status. SIGTERM is an interrupt with a status of its own.

    The handler of interrupts stays until Python cleans up: one that comes after the output ends the process
    at once, by its status and not by the signal.
    """
    heard = terminated = over = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal heard, terminated
        heard, terminated = True, terminated or number == signal.SIGTERM
        if over:
            os._exit(143 if terminated else 130)
        raise KeyboardInterrupt

    # One that the process was told to ignore stays ignored.
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    heeds = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if heeds:
        signal.signal(signal.SIGTERM, interrupt)
    try:
        # Loaded here, where an interrupt is expected.
        from celltrain import interrupts
        from celltrain.cli.application import run

        interrupts.listen(lambda: heard)
        status = run()
        over = True
    except KeyboardInterrupt:
        # Outside of what a command watches: while it is loaded, gets ready, or cleans up.
        over = True
        sys.stderr.write("interrupted\n")
        status = 130
    finally:
        # CPython remembers an interrupt that met it while it ran a source text, as imports of dataclasses do,
        # and ends by the signal instead of with our exit code, whoever caught the exception. The next source
        # text makes it forget.
        exec("")
        if heeds:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(143 if terminated else status)
