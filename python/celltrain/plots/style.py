"""One look for every picture: colours, titles, names, keys and remarks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf, isfinite
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from celltrain.bounds import Bounds
from celltrain.statistics import Estimate
from celltrain.terminal import plain as spelled_out
from celltrain.text import told, why_undefined

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "HATCHES",
    "LETTERS",
    "LEVEL",
    "MARKERS",
    "NAME",
    "RESOLUTION",
    "SPREAD",
    "colour_for_each",
    "colour_of",
    "evenly_wrapped",
    "inches_beside",
    "keyed",
    "legend_columns",
    "legible",
    "logarithmic",
    "look_of",
    "named_levels",
    "noted",
    "of_gaps",
    "of_limits",
    "panels",
    "plain",
    "settled",
    "styled",
    "titled",
]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The palette of Okabe and Ito (2008), told apart with every common colour vision."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
"""Shapes that go with the colours, so that nothing depends on colour alone. Eleven for seven colours, because
neither number divides the other: no two of 77 series look alike."""

HATCHES = ("", "////", "....", "xxxx")
"""Hatches of bars, one per cycle of the colours."""

LETTERS = 13
"""Letters of a title or legend that fit into an inch."""

NAME = 28
"""Letters of a name beside a picture or in its legend; the middle of a longer one is left out."""

GROWTH = 1.12
"""By how much panels are wider after their layout than before it."""

NUMBERS = 0.3
"""Inches beside a panel that are there for the numbers of its axis."""

LEVEL = 0.115
"""Inches of the name of a level beside a panel."""

SOLID = ("capacity", "link rate")
"""How the names of levels begin that nothing can pass; those of others, such as thresholds, are dashed."""

MOST_BESIDE = 6
"""Entries of a legend side by side."""

MOST_LABELLED = 8
"""Values along a logarithmic axis that have labels of their own."""

NEAR = 0.05
"""What is below zero on a scale from 0 to 1, so that marks at zero are whole."""

EQUAL = 1e-5
"""The part of values below which their differences are not drawn."""

SCALE, LIGHTEST = "viridis", 0.87
"""The scale of many colours, told apart with every common colour vision, and its end: beyond it is yellow."""

ALONG = 6
"""Names in the key of such a scale."""

SPREAD = 0.6
"""The part of the space between two categories over which the series of one category are spread."""


Look = tuple[str, Literal["-", "--"]]
"""The colour and the style of a line."""


RESOLUTION = 150
"""Dots per inch of a picture."""

_STYLE: Any = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": RESOLUTION,
    "svg.hashsalt": "celltrain",
}


@contextmanager
def styled() -> Iterator[None]:
    """Draws with celltrain's look, whatever the user's own matplotlib settings are."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def colour_of(names: Sequence[str]) -> dict[str, str]:
    """A colour for each distinct name, in order of appearance; of more names than colours some share one."""
    distinct = list(dict.fromkeys(names))
    return {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(distinct)}


def colour_for_each(names: Sequence[str]) -> dict[str, str]:
    """A colour of its own for each distinct name: of more names than colours from one end of a scale on.

    The key of a scale has names along it, its two ends among them; see `keyed`.
    """
    distinct = list(dict.fromkeys(names))
    if len(distinct) <= len(COLOURS):
        return colour_of(distinct)
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    scale = colormaps[SCALE]
    steps = len(distinct) - 1
    return {name: to_hex(scale(LIGHTEST * place / steps)) for place, name in enumerate(distinct)}


def titled(axis: "Axes", title: str, *, beside: float = 0.0, **look: Any) -> None:
    """Writes a title above a panel, on as many lines as its width asks for, of about one length.

    Args:
        axis: the panel.
        title: the title.
        beside: inches that long names beside the panel take from its width; see `inches_beside`.
        look: as matplotlib has it.
    """
    figure = axis.get_figure(root=True)
    assert figure is not None
    width = GROWTH * axis.get_position().width * figure.get_figwidth() - beside
    title = " ".join(spelled_out(title).split())
    fits = _inches(title) <= width
    lines = [title] if fits else evenly_wrapped(title, max(20, int(width * LETTERS)))
    axis.set_title(plain("\n".join(lines)), **look)


def inches_beside(names: Iterable[str]) -> float:
    """Inches that legible names beside a panel take from its width."""
    longest = max((len(name) for name in legible([*names])), default=0)
    return max(0.0, longest / LETTERS - NUMBERS)


def _inches(words: str) -> float:
    """How wide words are in the size of titles."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    points, *_ = text_to_path.get_text_width_height_descent(
        words, FontProperties(size=_STYLE["axes.titlesize"]), ismath=False
    )
    return float(points) / 72


def logarithmic(axis: "Axes", which: Literal["x", "y"], values: Iterable[float] = ()) -> None:
    """Makes an axis logarithmic, its labels plain numbers: "6", not "6 × 10^0".

    Where it has a few values, these are labelled, and nothing else.
    """
    from matplotlib.ticker import NullFormatter, NullLocator

    from celltrain.plots.ticks import LogTicks, MinorLogTicks, PlainLog

    axis.set(**{f"{which}scale": "log"})
    one = axis.xaxis if which == "x" else axis.yaxis
    distinct = {*values}
    labelled = sorted(distinct) if len(distinct) <= MOST_LABELLED else []
    one.set_major_locator(LogTicks(labelled))
    one.set_major_formatter(PlainLog())
    one.set_minor_formatter(NullFormatter())
    one.set_minor_locator(NullLocator() if labelled else MinorLogTicks(subs="auto"))


def named_levels(axis: "Axes", levels: Mapping[str, float], *, line: float, top: float = inf) -> None:
    """Draws levels such as capacity and thresholds, and names them beside the panel, where nothing is drawn.

    Args:
        axis: the panel.
        levels: their heights by their names; what is there, such as a capacity, is a solid line.
        line: the height of a name: those of levels that are near one another stand apart.
        top: the end of the panel. Beside it stand the names of levels that are above, with an arrow.
    """
    above = inf
    for name, height in sorted(levels.items(), key=lambda level: -level[1]):
        solid, inside = name.startswith(SOLID), height <= top
        if inside:
            axis.axhline(
                height, color="#333333", linewidth=1.1 if solid else 0.9, linestyle="-" if solid else "--"
            )
        above = min(height, top, above - line)
        axis.annotate(
            plain(name if inside else f"{name} ↑"),
            (1, above),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="x-small",
        )


def settled(axes: "Sequence[Axes]", which: Literal["x", "y"]) -> None:
    """Settles scales that values do not.

    Nothing but zeros has one from 0 to 1, and no values have no ticks. Values that differ by less than anyone
    would print have one on which they are equal.

    Args:
        axes: panels that share the scale, with all that they show.
        which: along which axis.
    """
    ends = [getattr(axis.dataLim, f"interval{which}") for axis in axes]
    known = [float(end) for low, high in ends if low <= high for end in (low, high)]
    for axis in axes:
        if not known:
            axis.set(**{f"{which}ticks": []})
        elif not any(known):
            axis.set(**{f"{which}lim": (-NEAR, 1)})
        elif 0 < max(known) - min(known) < EQUAL * (size := max(map(abs, known))):
            axis.set(**{f"{which}lim": (min(known) - size / 100, max(known) + size / 100)})


def plain(words: str) -> str:
    """Words that matplotlib writes as they are.

    Between two dollar signs it would read a formula, a legend leaves out what begins with an underscore, and
    no font has control characters.
    """
    spelled = spelled_out(words)
    return f"{' ' if spelled.startswith('_') else ''}{spelled}".replace("$", r"\$")


def legible(names: Sequence[str], most: int = NAME) -> list[str]:
    """Names beside a picture or in its legend, with at most so many letters each."""
    return list(map(plain, told(names, most)))


def evenly_wrapped(words: str, most: int) -> list[str]:
    """Words on as few lines of at most so many letters as they need, all of about one length."""
    lines = _wrapped(words, most)
    longest = min(most, max(map(len, words.split()), default=1))
    widths = range(longest, most + 1)
    return next((even for width in widths if len(even := _wrapped(words, width)) <= len(lines)), lines)


def _wrapped(words: str, most: int) -> list[str]:
    """Words on lines of at most so many letters; names such as tail-drop stay whole."""
    return wrap(words, most, break_on_hyphens=False)


def legend_columns(entries: Iterable[str], width: float) -> int:
    """How many entries of a legend fit side by side into so many inches."""
    lengths = list(map(len, entries))
    return max(1, min(len(lengths), MOST_BESIDE, int(width * LETTERS / (max(lengths, default=0) + 7))))


def look_of(names: Sequence[str]) -> dict[str, Look]:
    """A colour and a line style for each distinct name: of more names than colours the others are dashed.

    Of more than twice as many names each has a colour of a scale.
    """
    distinct = list(dict.fromkeys(names))
    if len(distinct) > 2 * len(COLOURS):
        return {name: (colour, "-") for name, colour in colour_for_each(distinct).items()}
    colours = colour_of(distinct)
    return {name: (colours[name], "-" if n < len(COLOURS) else "--") for n, name in enumerate(distinct)}


def keyed(place: "Figure | Axes", colours: Mapping[str, str | Look], *, right: float = 1.0) -> None:
    """Says below a figure or beside a panel what its colours mean, if they are several.

    Of the many colours of a scale the key has some, the first and the last one among them.

    Args:
        place: the figure or the panel.
        colours: the colour of each name, or its colour and line style.
        right: where the key of a panel begins, of whose width 1 is the end: behind the names of levels.
    """
    from matplotlib.figure import Figure

    if len(colours) < 2:
        return
    shown, title = _along(
        {name: (one, "-") if isinstance(one, str) else one for name, one in colours.items()}
    )
    patches, names = _samples([*shown.values()]), legible([*shown])
    if isinstance(place, Figure):
        columns = legend_columns(names, place.get_figwidth())
        place.legend(patches, names, loc="outside lower center", ncols=columns, title=title)
    else:
        # Within the panel it would cover lines.
        place.legend(patches, names, loc="upper left", bbox_to_anchor=(right, 1), fontsize="x-small")


def _samples(looks: "Sequence[Look]") -> "Sequence[Artist]":
    """What a key shows beside its names: patches of colour, or lines where some are dashed."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if all(style == "-" for _, style in looks):
        return [Patch(color=colour) for colour, _ in looks]
    return [Line2D([], [], color=colour, linestyle=style) for colour, style in looks]


def _along(looks: Mapping[str, Look]) -> tuple[Mapping[str, Look], str | None]:
    """What a key shows of looks, and its title: all of a few, and some of those along a scale."""
    is_scale = len(looks) > 2 * len(COLOURS) or not {colour for colour, _ in looks.values()} <= {*COLOURS}
    if not is_scale:
        return looks, None
    every = [*looks.items()]
    places = (round(part * (len(every) - 1) / (ALONG - 1)) for part in range(ALONG))
    (first, _), (last, _) = every[0], every[-1]
    ends = " to ".join(legible([first, last]))
    return dict(every[place] for place in places), f"{len(every)} colours in order, from {ends}"


def noted(figure: "Figure", *notes: str) -> None:
    """Writes below a figure what it does not show, a line for each note that is not empty.

    Call it after the legend of the figure is made: the notes stand in its title, as the layout of matplotlib
    would write both at one place. Later notes stand below earlier ones.
    """
    letters = int(figure.get_figwidth() * LETTERS)
    text = plain("\n".join(line for note in notes for line in evenly_wrapped(note, letters)))
    if text and figure.legends:
        title = figure.legends[0].get_title().get_text()
        figure.legends[0].set_title("\n".join(filter(None, (title, text))))
        figure.legends[0].get_title().set_multialignment("center")
    elif text:
        figure.supxlabel("\n".join(filter(None, (figure.get_supxlabel(), text))), fontsize="small")


def of_gaps(found: Iterable[Estimate]) -> str:
    """Why a mark is missing, if a mean is undefined."""
    why = why_undefined(found)
    return f"no mark: {why}" if why else ""


def of_limits(shown: Mapping[str, tuple[Sequence[Estimate], Bounds]]) -> str:
    """What is said where intervals end at what is possible.

    Args:
        shown: the estimates that are drawn of each measure, and its least and largest possible value.
    """
    cut = [
        f"{name} at {' and '.join(ends)}"
        for name, (found, limits) in shown.items()
        if (ends := _ends(found, limits))
    ]
    return f"intervals end at what is possible: {', '.join(cut)}" if cut else ""


def _ends(found: Iterable[Estimate], limits: Bounds) -> list[str]:
    """The possible values at which intervals end."""
    low, high = limits
    drawn = [(one.mean, half) for one in found if isfinite(half := one.half_width or 0.0)]
    # A mean beyond a limit shows that it is none.
    below = any(mean - half < low <= mean for mean, half in drawn)
    above = any(mean + half > high >= mean for mean, half in drawn)
    return [f"{end:g}" for end, is_cut in ((low, below), (high, above)) if is_cut]


def panels(
    rows: int, columns: int, width: float, height: float, **options: Any
) -> "tuple[Figure, list[list[Axes]]]":
    """A figure of `rows` x `columns` axes, its size in inches, without any global state of matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, [list(row) for row in axes]
