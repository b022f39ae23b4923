"""What other versions of celltrain left in the store of a results folder, and how to drop it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from celltrain import manifests
from celltrain.errors import InputError
from celltrain.folder import Folder
from celltrain.locking import locked
from celltrain.runs.store import FILE, Kept, Store

__all__ = ["prune", "versions"]


def versions(place: Path) -> dict[str, Kept]:
    """What each version made of the runs in a folder.

    Raises:
        InputError: there is no store, or another process works there.
    """
    with _opened(place) as store:
        return store.versions()


def prune(place: Path) -> dict[str, Kept]:
    """Drops the runs of other versions from a folder, and returns what was there before.

    The folder is incomplete meanwhile. The command that made it completes it if this is killed.

    Raises:
        InputError: there is no store, or another process works there.
    """
    with _opened(place) as store:
        before = store.versions()
        manifest = manifests.load(place) or {}
        if not manifest.get("complete"):
            store.prune()
            return before
        folder = Folder(place, manifest["kind"], manifest["key"], manifest)
        folder.put_manifest({**manifest, "complete": False})
        store.prune()
        store.close()
        with (place / FILE).open("rb") as file:
            checksums = {**manifest["checksums"], FILE: manifests.digest(file)}
        folder.put_manifest({**manifest, "checksums": checksums})
        return before


@contextmanager
def _opened(place: Path) -> Iterator[Store]:
    if not (place / FILE).is_file():
        raise InputError(f"{place} holds no runs: there is no {FILE} in it")
    with locked(place), closing(Store(place, 0)) as store:
        yield store
