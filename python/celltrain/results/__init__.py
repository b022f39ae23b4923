"""Results: tidy frames of what replications measured, read from a folder or built from fresh records.

A `Record` is what one replication gave; `frames` makes tables of records, and `reading` reads them back. A
`Result` is what all replications of a scenario gave; `origin` says how it came about.
"""

from celltrain.results.frames import FRAMES, Frames, pandas_of, record_frame, series_parts
from celltrain.results.origin import (
    CombinedFingerprint,
    about,
    combined_fingerprint,
    combined_provenance,
    core_version,
    provenance,
)
from celltrain.results.reading import frame_rows, has_old_names, read_frames, todays_names
from celltrain.results.record import Record, TimeSeries
from celltrain.results.result import NO_SCENARIO, Group, Result

__all__ = [
    "FRAMES",
    "NO_SCENARIO",
    "CombinedFingerprint",
    "Frames",
    "Group",
    "Record",
    "Result",
    "TimeSeries",
    "about",
    "combined_fingerprint",
    "combined_provenance",
    "core_version",
    "frame_rows",
    "has_old_names",
    "pandas_of",
    "provenance",
    "read_frames",
    "record_frame",
    "series_parts",
    "todays_names",
]
