"""Calls in a process of their own: they use another core, and their memory goes back to the system."""

import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile

from celltrain import interrupts

__all__ = ["apart"]

_PERIOD = 0.1
"""How long a wait may keep an interrupt from being heard, in seconds."""

# The process that asks decides what an interrupt or SIGTERM does. The path comes first, so that celltrain is
# found where it was found here.
_CHILD = """
import pickle, signal, sys
for number in signal.SIGINT, signal.SIGTERM:
    signal.signal(number, signal.SIG_IGN)
sys.path[:] = pickle.load(sys.stdin.buffer)
from celltrain.apart import answer
answer()
"""


@contextmanager
def apart(function: Callable[..., object], *arguments: object) -> Iterator[None]:
    """Calls a function in another process while the block runs, and waits for it at the end of the block.

    Args:
        function: a function of a module. It leaves files behind and prints nothing.
        arguments: what it is called with; they are pickled.

    Raises:
        Exception: what the function raised there, with its traceback as a note.
        ChildProcessError: the other process was killed.
    """
    with TemporaryFile() as call, TemporaryFile() as said:
        pickle.dump(sys.path, call)
        pickle.dump((function, arguments), call)
        call.seek(0)
        del arguments  # they may be large, and the block may take long
        with subprocess.Popen([sys.executable, "-c", _CHILD], stdin=call, stdout=said) as child:
            try:
                yield
                code = _end(child)
            except BaseException:
                child.kill()
                raise
        said.seek(0)
        if error := said.read():
            raise pickle.loads(error)
        if code:
            raise ChildProcessError(f"a process that celltrain had started ended with exit code {code}")


def _end(child: "subprocess.Popen[bytes]") -> int:
    """Waits for a process, and hears an interrupt meanwhile.

    Polars has a handler of its own, after which the system waits on (`SA_RESTART`): a wait without a timeout
    would hear an interrupt when it is over.
    """
    while True:
        interrupts.check()
        with suppress(subprocess.TimeoutExpired):
            return child.wait(_PERIOD)


def answer() -> None:
    """What the other process does: the call that waits at its standard input."""
    function, arguments = pickle.load(sys.stdin.buffer)
    try:
        function(*arguments)
    except Exception as error:
        error.add_note(traceback.format_exc())
        pickle.dump(error, sys.stdout.buffer)
