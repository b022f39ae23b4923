"""Dropping what other versions of celltrain left in the store of a results folder."""

from contextlib import closing
from pathlib import Path

from celltrain.errors import InputError
from celltrain.files import manifests
from celltrain.files.folder import Folder
from celltrain.files.locking import locked
from celltrain.runs.listing import Listing, listing
from celltrain.runs.store import FILE, Store

__all__ = ["prune"]


def prune(place: Path) -> Listing:
    """Drops the runs of other versions from a folder, and returns what was there before.

    The folder is incomplete meanwhile. The command that made it completes it if this is killed.

    Raises:
        InputError: there is no store, its manifest is damaged, another process works there, or the folder
            cannot be written.
    """
    before = listing(place)
    try:
        _drop(place)
    except OSError as error:
        raise InputError(f"cannot drop runs from {place}: {error.strerror or error}") from error
    return before


def _drop(place: Path) -> None:
    with locked(place), closing(Store(place, 0)) as store:
        manifest = manifests.load(place) or {}
        if not manifest.get("complete"):
            store.prune()
            return
        manifest = manifests.read_manifest(place)
        store.check_writable()
        folder = Folder(place, manifest["kind"], manifest["key"], manifest)
        folder.put_manifest({**manifest, "complete": False})
        store.prune()
        store.close()
        with (place / FILE).open("rb") as file:
            checksums = {**manifest.get("checksums", {}), FILE: manifests.digest(file)}
        folder.put_manifest({**manifest, "checksums": checksums})
