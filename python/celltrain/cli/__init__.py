"""The command `celltrain`.

Results go to stdout or to files, messages and progress to stderr. Exit codes: 0 success, 1 a claim or check
failed, 2 bad input, 3 a defect of celltrain, 130 interrupted, 141 the reader of the output closed it.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line and exits with its status."""
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
    sys.exit(status)
