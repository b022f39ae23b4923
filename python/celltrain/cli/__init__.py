"""The command `celltrain`.

Results go to stdout or to files, messages and progress to stderr. Exit codes: 0 success, 1 a claim or check
failed, 2 bad input, 3 a defect of celltrain, 130 interrupted, 141 the reader of the output closed it,
143 terminated.
"""

import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Runs the command line and exits with its status. SIGTERM is an interrupt with a status of its own."""
    terminated = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        raise KeyboardInterrupt

    heeds = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL  # and was not told to ignore it
    if heeds:
        signal.signal(signal.SIGTERM, interrupt)
    try:
        # Loaded here, where an interrupt is expected.
        from celltrain.cli.application import run

        status = run()
    except KeyboardInterrupt:
        # Outside of what a command watches: while it is loaded, gets ready, or cleans up.
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
