"""A paper under changed settings, beside its own: what the change does to the numbers that are published.

The change is a candidate of the paper, for this call alone, so its numbers go by the name `changed` wherever
those of candidates do. It is none of the paper's folder: it is not recorded, and results with it have a
folder of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from celltrain import arguments, text
from celltrain.errors import InputError
from celltrain.papers.description import CHANGED, Candidate, Paper, Table
from celltrain.scenario import keys_set, toml_value

__all__ = ["changed", "told"]

ELSEWHERE = {"seed": "--seed, or seed", "replications": "--replications, or replications"}
"""Settings that all columns share, and where they are said."""


def changed(
    paper: Paper, settings: Mapping[str, Any], stacks: Iterable[str], tables: Sequence[Table]
) -> Paper:
    """The paper with a candidate of some settings, under its first stack or the one that is named.

    Args:
        paper: the paper.
        settings: dotted keys of its scenarios and their new values.
        stacks: the chosen stacks, at most one.
        tables: the tables and figures that are to run.

    Raises:
        InputError: a setting is varied by the paper itself, said elsewhere, or no change.
        ScenarioError: a key does not exist, or its value cannot be used.
    """
    if CHANGED in (*paper.stacks, *(one.name for one in paper.candidates)):
        raise InputError(f"the paper has a '{CHANGED}' of its own: call it otherwise in paper.toml")
    stack, said = _one_stack(paper, stacks), told(settings)
    for key, value in settings.items():
        _refuse_kept(paper, key, value, tables)
    for name in dict.fromkeys(table.scenario for table in tables):
        paper.folder.scenario(name).with_(settings)  # which names the key, and not the column
    candidate = Candidate(
        CHANGED, f"{said}, in place of the paper's own", dict(settings), is_last=True, stack=stack
    )
    found = replace(paper, candidates=(*paper.candidates, candidate), changes=dict(settings))
    if not any(_differs(found, stack, table) for table in tables):
        has = "these settings" if len(settings) > 1 else said
        raise InputError(f"the paper has {has} already: leave it out (--set, or settings)")
    return found


def _refuse_kept(paper: Paper, key: str, value: object, tables: Sequence[Table]) -> None:
    """Refuses a setting that columns share or vary, or that changes no number."""
    if key == "name":
        raise InputError("name: leave it out: it changes no number of the paper")
    if key in ELSEWHERE:
        raise InputError(f"{key}: leave it out, and give {ELSEWHERE[key]}: all columns share it")
    for table in tables:
        base = paper.folder.scenario(table.scenario).to_dict()
        own = next((one for part in keys_set(key, value) for one in _varied(part, table, base)), None)
        if own is not None:
            which = "it" if own == key else own
            raise InputError(
                f"{key}: {table.name} varies {which} itself: choose others (--table and --figure, or tables "
                f"and figures), or run {table.scenario} of the paper's folder with celltrain run --set"
            )


def told(settings: Mapping[str, Any]) -> str:
    """Changed settings as people read them."""
    return ", ".join(f"{key} = {toml_value(value, key)}" for key, value in settings.items())


def _one_stack(paper: Paper, stacks: Iterable[str]) -> str:
    named = list(arguments.names("stacks", stacks, "reno"))
    if len(named) > 1:
        raise InputError(f"changed settings need one TCP stack, not {text.listed(named)}: name one of them")
    return named[0] if named else paper.stacks[0]


def _varied(key: str, table: Table, base: Mapping[str, Any]) -> Iterator[str]:
    """The settings that differ from column to column and that a change of a key would undo.

    Links and ports that have a setting of their own in the base scenario are not those that columns vary.
    """
    known = dict.fromkeys(one for column in table.columns for one in column.settings)
    own = {key, _of_all(key)} if _has(base, key) else {key, _of_all(key), _of_links_and_ports(key)}
    for one in known:
        if any(one == key or one.startswith(f"{key}.") or key.startswith(f"{one}.") for key in own):
            values = [column.settings.get(one) for column in table.columns]
            if any(value != values[0] for value in values):
                yield one


def _of_all(key: str) -> str:
    """The key that says for all flows what a key says for those of a group, or for one; else the key itself.

    Traffic of their own takes the place of all keys of `[traffic]`.
    """
    match key.split("."):
        case ["group" | "flow", _, "traffic", *_]:
            return "traffic"
        case ["group" | "flow", _, "tcp" | "vc" | "abr" as table, *rest]:
            return ".".join((table, *rest))
        case _:
            return key


def _of_links_and_ports(key: str) -> str:
    """The key that says for all links, or all ports, what a key says for some; else the key itself."""
    match key.split("."):
        case ["link", "access" | "trunk" | "exit", *rest] | ["link-override", _, "link", *rest]:
            return ".".join(("link", *rest))
        case ["group", _, "access" | "exit", *rest]:
            return ".".join(("link", *rest))
        case ["port", _, *rest]:
            return ".".join(("switch", *rest))
        case _:
            return key


def _has(settings: Any, key: str) -> bool:
    """Whether nested settings have a dotted key."""
    for part in key.split("."):
        is_list = isinstance(settings, list)
        inner = {str(place): one for place, one in enumerate(settings)} if is_list else settings
        if not isinstance(inner, Mapping) or part not in inner:
            return False
        settings = inner[part]
    return True


def _differs(paper: Paper, stack: str, table: Table) -> bool:
    """Whether the change makes another scenario of any column of a table."""
    base = paper.folder.scenario(table.scenario)
    return any(
        base.with_(paper.settings(stack, column)).key != base.with_(paper.settings(CHANGED, column)).key
        for column in table.columns
    )
