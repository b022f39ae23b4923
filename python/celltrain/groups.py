"""The names of groups of flows, which the core gives."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

__all__ = ["GROUP", "groups_of"]

GROUP = "group_name"
"""The column of flows with the name of the group that a flow is in."""


def groups_of(flows: "pl.DataFrame | Mapping[str, Any]") -> dict[str, str]:
    """The name of the group of every flow of a run; replications agree about it.

    In results of an older version, which have no such names, it is "".
    """
    if GROUP not in flows:
        return dict.fromkeys(flows["flow"], "")
    return dict(zip(flows["flow"], flows[GROUP], strict=True))
