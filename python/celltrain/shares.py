"""Fair shares of a network: what each flow should get."""

from collections.abc import Iterable, Sequence

from celltrain import _core, arguments
from celltrain.errors import InputError

__all__ = ["max_min"]


def max_min(
    capacities: Sequence[float],
    routes: Sequence[Sequence[int]],
    *,
    demands: Sequence[float | None] | None = None,
    minima: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    above_minima: bool = False,
) -> list[float]:
    """The max-min fair rate of each flow, in the unit of `capacities`.

    Demands, minimum rates and weights are given for all flows or for none.

    Args:
        capacities: what each link carries.
        routes: the numbers of the links that each flow crosses.
        demands: what each flow takes at most; None for whatever it gets.
        minima: what each flow gets at least.
        weights: the share of each flow beside the others.
        above_minima: each flow gets its minimum, and what they leave is shared fairly.

    Raises:
        InputError: an argument cannot be used, or the problem has no answer.
    """
    found = [
        [arguments.count(f"routes[{flow}][{place}]", link) for place, link in enumerate(_links(flow, route))]
        for flow, route in enumerate(arguments.several("routes", routes, "routes such as [[0, 1]]"))
    ]
    links = arguments.numbers("capacities", capacities)
    if not links and any(found):
        raise InputError("capacities: expected what each link carries, found no link")
    try:
        return _core.max_min(
            links,
            found,
            demands=None if demands is None else _demands(demands),
            minima=None if minima is None else arguments.numbers("minima", minima),
            weights=None if weights is None else arguments.numbers("weights", weights),
            above_minima=arguments.truth("above_minima", above_minima),
        )
    except (ValueError, OverflowError) as error:
        raise InputError(str(error)) from None


def _links(flow: int, route: object) -> Iterable[object]:
    return arguments.several(f"routes[{flow}]", route, "links such as [0, 1]")


def _demands(demands: object) -> list[float | None]:
    given = arguments.several("demands", demands, "numbers")
    return [
        None if demand is None else arguments.number(f"demands[{flow}]", demand)
        for flow, demand in enumerate(given)
    ]
