"""Scenarios: what is simulated, resolved and checked by the core when they are made."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from celltrain import _core, arguments, display
from celltrain.embedded import parsed, without_sweep
from celltrain.errors import InputError, ScenarioError
from celltrain.files.streams import placed

__all__ = [
    "Scenario",
    "keys_set",
    "load",
    "load_with_sweep",
    "read_text",
    "set_anew",
    "shown",
    "text_of",
    "toml_value",
    "value_of",
]

MAX_FILE = 16 << 20
"""Bytes of a scenario or plan file, at most."""

DICTIONARY = "<dictionary>"
"""What the core calls a scenario that was made of a dictionary."""

_LINE_OF_DICTIONARY = re.compile(rf"\A{DICTIONARY}:\d+: ")


class Scenario:
    """An immutable scenario: topology, switches, TCP, traffic, durations, seed.

    Made by `load` or `Scenario.from_toml`, and varied by `with_`. It can be pickled and compared: two
    scenarios are equal if they give the same settings (`to_toml`). Settings without effect count too; the
    `key` leaves out those of policies that are not chosen.
    """

    __slots__ = ("core",)

    core: _core.Scenario

    def __init__(self, core: _core.Scenario) -> None:
        if not isinstance(core, _core.Scenario):
            raise arguments.expected("core", "what celltrain.load or Scenario.from_toml makes", core)
        self.core = core

    @staticmethod
    def from_toml(text: str, name: str = "<text>") -> "Scenario":
        """Reads a scenario from TOML text; `name` stands for the file in error messages.

        Raises:
            ScenarioError: the text is not a valid scenario.
        """
        return Scenario(_core.Scenario.from_toml(arguments.text("text", text), arguments.text("name", name)))

    @staticmethod
    def from_dict(settings: Mapping[str, Any], name: str = DICTIONARY) -> "Scenario":
        """Makes a scenario of nested dictionaries, as `to_dict` returns them.

        Keys are those of a scenario file; values are text, numbers (numpy's too), lists and tables.

        Raises:
            InputError: a value is none that a scenario file can have.
            ScenarioError: the settings are not a valid scenario.
        """
        arguments.mapping("settings", settings, '{"duration": "1 s"}')
        lines = (
            f"{toml_value(str(key))} = {toml_value(value, str(key))}\n" for key, value in settings.items()
        )
        arguments.text("name", name)
        try:
            return Scenario.from_toml("".join(lines), DICTIONARY)
        except ScenarioError as error:
            raise ScenarioError(str(_told(error)).replace(DICTIONARY, name, 1)) from None

    def with_(self, settings: Mapping[str, Any] | None = None, /, **keywords: Any) -> "Scenario":
        """This scenario with some settings changed.

        Settings are dotted keys of the scenario file. As keyword arguments a double underscore stands for the
        dot and a single one for the hyphen, so `with_(tcp__rto_min="200 ms")` sets `tcp.rto-min`.

        Raises:
            InputError: a value is none that a scenario file can have, or a key is there twice.
            ScenarioError: a key does not exist or its value cannot be used.
        """
        named = {key.replace("__", ".").replace("_", "-"): value for key, value in keywords.items()}
        given = arguments.mapping("settings", {} if settings is None else settings, '{"duration": "1 s"}')
        for key in given:
            arguments.text("a key of settings", key)
        changes = (*given.items(), *named.items())
        return self.with_text((key, toml_value(value, key)) for key, value in changes)

    def with_text(self, settings: Iterable[tuple[str, str]]) -> "Scenario":
        """As `with_`, with every value as TOML text; text that is no TOML value is taken as a string."""
        changes = arguments.pairs("settings", settings)
        try:
            return Scenario(self.core.with_overrides(changes))
        except ScenarioError as error:
            raise _told(error) from None

    @property
    def name(self) -> str:
        """The name the file gives itself."""
        return self.core.name

    @property
    def seed(self) -> int:
        """The master seed; replication r draws from generators keyed by (seed, r, component)."""
        return self.core.seed

    @property
    def replications(self) -> int:
        """Independent replications that `run` makes unless told otherwise."""
        return self.core.replications

    @property
    def duration(self) -> float:
        """Simulated time, in seconds, warm-up included."""
        return self.core.duration

    @property
    def warm_up(self) -> float:
        """Initial time that no measure counts, in seconds."""
        return self.core.warm_up

    @property
    def key(self) -> str:
        """A hash of every resolved setting but the seed and the number of replications (hexadecimal)."""
        return self.core.key

    @property
    def bottleneck(self) -> str | None:
        """The port that occupancy, delay and utilisation of the summary are about; None without a switch.

        It is the one that `measures.bottleneck` names, or the switch port with the highest offered load. So
        it is the same in every replication.
        """
        return self.core.bottleneck

    @property
    def notes(self) -> list[str]:
        """Settings that are valid and have no effect, or not the one that they promise: a sentence each.

        `celltrain check` and `celltrain run` print them.
        """
        from celltrain.notes.settings import notes

        return notes(self)

    def resolved_toml(self) -> str:
        """Every value in force as a scenario file: presets of TCP as their parameters, and all defaults.

        Its runs are the same with every version that has the same models, whatever their defaults are.
        """
        return self.core.resolved_toml()

    def resolved(self) -> dict[str, Any]:
        """As `resolved_toml`, as nested dictionaries."""
        settings: dict[str, Any] = json.loads(self.core.resolved_json())
        return settings

    def to_toml(self) -> str:
        """The settings as a scenario file. Presets stay presets, so that `with_` can change them."""
        return self.core.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """As `to_toml`, as nested dictionaries."""
        settings: dict[str, Any] = json.loads(self.core.to_json())
        return settings

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}: {self.duration:g} s, seed {self.seed}, key {self.key}>"

    def _repr_html_(self) -> str:
        rows = (
            ("duration", f"{self.duration:g} s, of which {self.warm_up:g} s warm-up"),
            ("replications", f"{self.replications}, seed {self.seed}"),
            ("bottleneck", self.bottleneck or "none, there is no switch"),
            ("key", self.key),
        )
        file = display.folded("The scenario as a file", self.to_toml())
        return display.table(("scenario", self.name), rows, text_columns=2) + file

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash((self.key, self.seed, self.replications))

    def __reduce__(self) -> tuple[Any, ...]:
        return Scenario, (self.core,)


def load(path: str | os.PathLike[str], settings: Iterable[tuple[str, str]] = ()) -> Scenario:
    """Reads a scenario file; `settings` are dotted keys with values as TOML text, set before it is checked.

    A `[sweep]` in the file is left out: `celltrain.sweeps.load_plan` reads it.

    Raises:
        ScenarioError: the file cannot be read or is not a valid scenario; the message names file, line and
            key.
    """
    try:
        return load_with_sweep(path, settings)[0]
    except ScenarioError as error:
        raise _told(error) from None


def load_with_sweep(
    path: str | os.PathLike[str], settings: Iterable[tuple[str, str]] = (), text: str | None = None
) -> tuple[Scenario, Mapping[str, Any] | None]:
    """As `load`, with the `[sweep]` of the file; None where there is none.

    Errors in `settings` are told as those of the option `--set`. `text` is that of the file, if it was read
    already: a pipe can be read only once.
    """
    place, changes = arguments.path("path", path), arguments.pairs("settings", settings)
    text = text_of(place) if text is None else text
    if text is None:
        return Scenario(_core.Scenario.load(place, changes)), None
    with placed(place) as beside:
        return _loaded(beside, changes, text)


def _loaded(
    place: Path, changes: list[tuple[str, str]], text: str
) -> tuple[Scenario, Mapping[str, Any] | None]:
    """The scenario of a file with some text, and its `[sweep]`."""
    try:
        rest, sweep = without_sweep(text)
    except InputError as error:
        raise InputError(f"{shown(place)}: {error}") from error
    if sweep is None and place.is_file():
        return Scenario(_core.Scenario.load(place, changes)), None
    if sweep is not None and "scenario" in parsed(rest):
        raise ScenarioError(
            f"{shown(place)} is the plan of a sweep: run it with `celltrain sweep {shown(place)}`"
        )
    return Scenario(_core.Scenario.from_toml(rest, shown(place), changes)), sweep


def _told(error: ScenarioError) -> ScenarioError:
    """An error of the core about what Python code gave.

    The core tells every setting as one of `--set`, and the line of the text that a dictionary was made into.
    """
    return ScenarioError(_LINE_OF_DICTIONARY.sub(f"{DICTIONARY}: ", str(error).removeprefix("--set ")))


def text_of(place: Path) -> str | None:
    """The text of a scenario or plan file; None where the core says what is wrong with the file.

    Raises:
        ScenarioError: it is no text, and no file that the core can read again.
    """
    try:
        return read_text(place)
    except OSError:
        return None
    except ValueError as error:
        if place.is_file():
            return None
        raise ScenarioError(f"{shown(place)}: not a scenario file: {error}") from error


def read_text(place: Path) -> str:
    """The text of a scenario or plan file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is too large, as a device that never ends is, or no UTF-8.
    """
    with place.open("rb") as file:
        content = file.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise ValueError(f"larger than {MAX_FILE >> 20} MiB")
    return content.decode("utf-8-sig").replace("\r\n", "\n")  # some editors begin a file with a mark


def shown(place: Path) -> str:
    """A path as messages show it, whatever its bytes are."""
    return os.fsencode(place).decode("utf-8", "backslashreplace")


def set_anew(key: str, value: object, other: str, by: str) -> str | None:
    """What is said of a setting of `--set` that something replaces, whole or in part; None if nothing does.

    Args:
        key: what is set.
        value: its value.
        other: the key that is set anew.
        by: what sets it.
    """
    lost = next((part for part in keys_set(key, value) if f"{part}.".startswith(f"{other}.")), None)
    if lost is None:
        return None
    if f"{key}.".startswith(f"{other}."):
        return f"--set {key} has no effect, as {by} sets {other}"
    return f"--set {key} sets {lost}, and {by} sets it anew"


def keys_set(key: str, value: object) -> Iterator[str]:
    """The dotted keys that a setting sets: where it is a table, those of the values in it.

    A table with a `kind` is one of them, too: where it had another one, nothing of what was there stays. So
    is an array of tables, which takes the place of the one that was there.
    """
    if isinstance(value, Mapping) and value:
        if "kind" in value:
            yield key
        for part, inner in value.items():
            yield from keys_set(f"{key}.{part}", inner)
        return
    yield key
    if isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            if isinstance(inner, Mapping):
                yield from keys_set(f"{key}.{place}", inner)


def value_of(text: str) -> object:
    """A value of `--set` as a scenario file has it: what is no TOML value is text."""
    try:
        return parsed(f"value = {text}")["value"]
    except ValueError:
        return text


def toml_value(value: object, place: str = "a setting") -> str:
    """A Python value as the text of a TOML value; `place` is where it stands, for what is wrong.

    Raises:
        InputError: TOML has no such value.
        ScenarioError: it contains itself, or a number has more digits than Python writes.
    """
    try:
        return _toml_value(value, place)
    except InputError:
        raise
    except RecursionError:
        raise ScenarioError("a setting is nested too deeply: does it contain itself?") from None
    except ValueError:  # which speaks of settings of Python
        raise ScenarioError("a number has too many digits") from None


def _toml_value(value: object, place: str) -> str:
    value = arguments.own(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):  # subclasses, as enumerations, may write themselves otherwise
        return int.__repr__(value) if isinstance(value, int) else float.__repr__(value)
    if isinstance(value, str):
        return json.dumps(arguments.text(place, value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (
            f"{_toml_value(str(key), place)} = {_toml_value(item, f'{place}.{key}')}"
            for key, item in value.items()
        )
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list | tuple):
        items = (_toml_value(item, f"{place}[{number}]") for number, item in enumerate(value))
        return "[" + ", ".join(items) + "]"
    raise arguments.expected(place, "text, a number, true or false, a list or a table", value)
