"""Numbers as people read them; one rule for the terminal, the report and the pictures."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from celltrain.statistics import Estimate

__all__ = [
    "capital",
    "counted",
    "do",
    "exact_percent",
    "exhibits",
    "first_of",
    "interval",
    "json_text",
    "listed",
    "number",
    "percent",
    "printed",
    "quantity",
    "scale",
    "signed",
    "told",
    "with_unit",
]

ROUNDING = 1e-8
"""Relative spread that equal values may show: by floating point, and as times are whole picoseconds."""

MAX_PLACES = 9
"""Decimals of a number, at most; smaller ones have an exponent."""

MOST_PLACES = 12
"""Decimals of a mean with its interval, at most: above 0.001 an interval that shows needs no more."""

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_PREFIXED = {"B", "bit/s", "B/s", "packet/s", "cell/s"}
_WHOLE = {"cells", "packets", "frames", "segments"}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits, larger ones whole: "0.8370", "58,453"; "-" for None."""
    if value is None:
        return "-"
    if math.isnan(value):
        return "undefined"
    if value == 0 or not math.isfinite(value):
        return f"{value + 0.0:g}"  # of the two zeros the one without a sign
    return _fixed(value, digits - 1 - _exponent(value, digits))


def printed(value: float | None) -> str:
    """A published number, with the digits it was printed with."""
    return "-" if value is None else f"{value:,.10g}"


def signed(shown: str, value: float | None, is_gain: bool = True) -> str:
    """A gain as it is shown, with its sign: "+89 %". What is no gain stays as it is."""
    return f"+{shown}" if is_gain and value is not None and value > 0 else shown


def quantity(value: float | None, unit: str, digits: int = 4) -> str:
    """A number with its unit, scaled where the unit takes prefixes: "149.8 Mbit/s", "2.060 ms"."""
    if value is None or math.isnan(value):
        return number(value)
    factor, scaled = scale(float(f"{value:.{digits - 1}e}"), unit)
    return _with_unit(_maybe_whole(value / factor, unit, digits), scaled)


def why_undefined(found: Iterable[Estimate]) -> str:
    """Why some of these means are undefined, if some are: a replication has no value, or no run is there."""
    gaps = [one.n for one in found if not math.isfinite(one.mean)]
    reasons = ("undefined in a replication" if any(gaps) else "", "its runs are missing" if 0 in gaps else "")
    return " or ".join(filter(None, reasons))


def interval(found: Estimate, unit: str, like: float | None = None, *, is_count: bool = False) -> str:
    """A mean with half of the width of its interval, to the same decimal: "149.8 ± 0.3 Mbit/s".

    An undefined mean says in how many replications the measure has no value. One with a resolution, as that
    of percentiles, has no digits beyond it: "21.2 ± <0.4 ms" where the interval is narrower than 0.4 ms, the
    resolution.

    Args:
        found: the mean.
        unit: its unit.
        like: a value whose prefix of the unit is taken, so that the entries of a column have one unit.
        is_count: whether values are whole numbers, as those in cells are: a whole mean has no decimals then.
    """
    spread = found.half_width
    if math.isnan(found.mean):
        some = 0 < found.undefined < found.n
        return f"undefined in {found.undefined} of {found.n} runs" if some else "undefined"
    factor, scaled = scale(max(abs(found.mean), spread or 0.0) if like is None else like, unit)
    mean = found.mean / factor
    coarse = found.resolution / factor
    most = _places(coarse)
    mean = _left_of_point(mean, most)
    alone = _maybe_whole(mean, unit, _digits(mean, most), is_count=is_count)
    if spread is None or not math.isfinite(spread) or not math.isfinite(mean):
        return _with_unit(alone, scaled)
    if spread <= ROUNDING * abs(found.mean):
        return _with_unit(f"{alone} ± 0", scaled)
    if most is not None and spread < found.resolution:
        return _with_unit(f"{_fixed_to(mean, most)} ± <{_fixed_to(_rounded_up(coarse, most), most)}", scaled)
    return _with_unit(_both(mean, spread / factor, most), scaled)


def _places(resolution: float) -> int | None:
    """The decimals of a value that is not known better than this; None where it is exact."""
    return -_exponent(resolution, 1) if resolution > 0 and math.isfinite(resolution) else None


def _left_of_point(value: float, places: int | None) -> float:
    """A value without the digits left of the decimal point that nobody knows: 123,000 of 123,456 for -3."""
    return round(value, places) if places is not None and places < 0 and math.isfinite(value) else value


def _rounded_up(value: float, places: int) -> float:
    """A value that is not below another one, of so many decimals."""
    unit = 10.0**-places
    return math.ceil(value / unit * (1 - ROUNDING)) * unit


def _fixed_to(value: float, places: int) -> str:
    """A number to so many decimals; where that are many, with an exponent."""
    if places <= MOST_PLACES:
        return f"{value:z,.{max(places, 0)}f}"
    return f"{value:.2e}"


def _digits(value: float, places: int | None, usual: int = 4) -> int:
    """The significant digits of a value alone: as usual, or fewer where it has only so many decimals."""
    if places is None or not value or not math.isfinite(value):
        return usual
    return max(1, min(usual, _exponent(value, usual) + places + 1))


def _both(mean: float, spread: float, most: int | None = None) -> str:
    """A mean and half of its interval, which has two digits, to the same decimal; `most` decimals at most."""
    places = 1 - _exponent(spread, 2)
    places = places if most is None else min(places, most)
    spread = _left_of_point(spread, most)
    if places <= MOST_PLACES:
        return f"{mean:z,.{max(places, 0)}f} ± {spread:,.{max(places, 0)}f}"
    power = _exponent(max(abs(mean), spread), places)
    unit, digits = 10.0**power, places + power
    return f"{mean / unit:z.{digits}f}e{power:03} ± {spread / unit:.{digits}f}e{power:03}"


def capital(words: str) -> str:
    """Words with a capital letter in front; abbreviations, as TCP, keep theirs."""
    return words[:1].upper() + words[1:]


def counted(count: int, noun: str) -> str:
    """A number of things: 1 replication, 12 replications."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def exhibits(count: int) -> str:
    """So many of the tables and figures of a paper."""
    return "1 table or figure" if count == 1 else f"{count:,} tables and figures"


def do(count: int) -> str:
    """The verb for so many things: one does, two do."""
    return "does" if count == 1 else "do"


def first_of(shown: int, count: int, noun: str) -> str:
    """Which of some things are shown: "every flow", "the first 60 of 100 flows"."""
    return f"every {noun}" if shown == count else f"the first {shown:,} of {counted(count, noun)}"


def named(name: str) -> str:
    """A name in a sentence: in quotes if it has a comma, as those of variants of several keys."""
    return f'"{name}"' if "," in name else name


def joined(names: Iterable[str]) -> str:
    """Names with commas between."""
    return ", ".join(map(named, names))


def listed(names: Sequence[str], last_word: str = "and") -> str:
    """Names in a sentence: "epd", "epd and ppd", "epd, ppd and espd"."""
    *others, last = names
    return f"{joined(others)} {last_word} {named(last)}" if others else named(last)


def told(names: Sequence[str], most: int) -> list[str]:
    """Names with at most so many letters each, as the charts of reports shorten them.

    The middle of a long name is left out. Names that would then be the same are told apart by the letters
    around the first one in which a name differs from the one that it is most like.
    """
    ends = [_shortened(name, most) for name in names]
    found = []
    for name, short in zip(names, ends, strict=True):
        same = [other for other, end in zip(names, ends, strict=True) if end == short and other != name]
        found.append(_around(name, max(_alike(name, other) for other in same), most) if same else short)
    return found


def _shortened(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    kept = most - 1
    return f"{name[: kept - kept // 2].rstrip()}…{name[len(name) - kept // 2 :].lstrip()}"


def _around(name: str, place: int, most: int) -> str:
    """The letters of a name around a place."""
    kept = most - 2
    begin = max(0, min(place - kept // 2, len(name) - kept))
    return f"…{name[begin : begin + kept]}{'…' if begin + kept < len(name) else ''}"


def _alike(name: str, other: str) -> int:
    """How many letters two names have in common from their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False)))


def percent(part: float | None, *, signed: bool = False) -> str:
    """A part as a percentage with one decimal."""
    return "-" if part is None or math.isnan(part) else f"{100 * part:{'+' if signed else ''}z.1f} %"


def exact_percent(part: float) -> str:
    """A part that someone set, as a percentage in full: "95 %", "0.01 %"."""
    return f"{printed(100 * part)} %"


def with_unit(name: str, unit: str) -> str:
    """A label with its unit in brackets: "throughput (Mbit/s)"; dimensionless quantities have none."""
    return f"{name} ({unit})" if unit else name


def json_text(content: object, indent: int | None = 2) -> str:
    """JSON, with null for numbers that are not finite: JSON has no others."""
    return json.dumps(_finite(content), indent=indent, ensure_ascii=False, allow_nan=False)


def either(units: Iterable[str]) -> str:
    """The unit of several values; "cells or packets" where they count different things."""
    return " or ".join(sorted(set(units)))


def scale(value: float, unit: str) -> tuple[float, str]:
    """The factor by which to divide a value, and the unit it then has."""
    size = abs(value)
    if unit == "s":
        least = _TIMES[-1] if size > 0 else (1.0, "s")
        return next(((factor, name) for factor, name in _TIMES if size >= factor), least)
    if unit in _PREFIXED:
        return next(((factor, prefix + unit) for factor, prefix in _PREFIXES if size >= factor), (1.0, unit))
    return 1.0, unit


def _finite(content: object) -> object:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return content


def _maybe_whole(value: float, unit: str, digits: int = 4, *, is_count: bool = False) -> str:
    """A number; one of whole things without decimals, unless it is a mean between two whole numbers."""
    whole = (is_count or unit in _WHOLE) and value.is_integer()
    return f"{value:z,.0f}" if whole else number(value, digits)


def _exponent(value: float, digits: int) -> int:
    """The power of ten of the first of so many digits: 0 for 0.99996 with four, which is written 1.000."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def _fixed(value: float, places: int) -> str:
    if places > MAX_PLACES:
        return f"{value:.2e}"
    return f"{value:z,.{max(places, 0)}f}"


def _with_unit(shown: str, unit: str) -> str:
    if shown == "1" and unit in _WHOLE:
        unit = unit.removesuffix("s")
    return f"{shown} {unit}" if unit else shown
