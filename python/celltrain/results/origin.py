"""What manifests say of how results came about: version, platform, effort, fingerprint."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

from celltrain import _core
from celltrain.revision import source_revision

__all__ = [
    "CombinedFingerprint",
    "about",
    "combined_fingerprint",
    "combined_provenance",
    "core_version",
    "provenance",
]


class _Ran(Protocol):
    """What a manifest says of one run."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def cell_hops(self) -> int: ...


def provenance(records: Sequence[_Ran], wall_time: float, reused: int = 0) -> dict[str, Any]:
    """What a manifest says of how results came about; `wall_time` is in seconds."""
    return {
        "celltrain": _core.__version__,
        "core": core_version(),
        "revision": source_revision(),
        "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "wall_time": round(wall_time, 3),
        "reused": reused,
        "cell_hops": sum(record.cell_hops for record in records),
        "fingerprint": combined_fingerprint(record.fingerprint for record in records),
        "fingerprints": [record.fingerprint for record in records],
    }


def about(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the metadata of files says of their experiment."""
    return {name: manifest[name] for name in ("name", "seed", "celltrain", "fingerprint") if name in manifest}


def core_version() -> str:
    """What results depend on beside scenario, seed and replication: the version and sources of the core."""
    return f"{_core.__version__}+{_core.__source__}"


def combined_provenance(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a manifest says of results that were made one after the other."""
    return {
        **{key: parts[0][key] for key in ("celltrain", "core", "revision", "platform")},
        "wall_time": round(sum(part["wall_time"] for part in parts), 3),
        "reused": sum(part.get("reused", 0) for part in parts),
        "cell_hops": sum(part["cell_hops"] for part in parts),
        "fingerprint": combined_fingerprint(part["fingerprint"] for part in parts),
    }


def combined_fingerprint(fingerprints: Iterable[str]) -> str:
    """One fingerprint (16 hexadecimal digits) of several runs in their order."""
    combined = CombinedFingerprint()
    for fingerprint in fingerprints:
        combined.add(fingerprint)
    return combined.digits()


class CombinedFingerprint:
    """One fingerprint of several runs that pass one by one."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=8)
        self._between = b""

    def add(self, fingerprint: str) -> None:
        """Takes in the fingerprint of the next run."""
        self._hash.update(self._between + fingerprint.encode())
        self._between = b" "

    def digits(self) -> str:
        """The fingerprint (16 hexadecimal digits) of what was taken in."""
        return self._hash.hexdigest()
