"""The points of a sweep that have the most replications, and not what `until` asks for."""

from enum import Enum

from celltrain import statistics
from celltrain.sweeps.measured import Measured
from celltrain.verdicts import nearly_normal, spent_confidence

__all__ = ["Lack", "imprecise", "lacking"]


class Lack(Enum):
    """What a point lacks that has the most replications that `until` allows."""

    VALUES = "its metric is undefined in some replications, so it has no mean"
    PRECISION = "its interval is wider than asked for"
    CONFIDENCE = "too few replications, given the skewness, for the required confidence"


def lacking(found: Measured) -> dict[Lack, list[int]]:
    """The points that stopped at the most replications before `until` was satisfied, by what they lack.

    This is judged as while the sweep ran: an interval has the confidence of the last look, which is higher
    than the one that `until` names, and the sample is nearly normal (`verdicts.nearly_normal`).
    """
    until = found.until
    if until is None:
        return {}
    step, most = found.manifest["replications"], until["max-replications"]
    confidence = spent_confidence(until["confidence"], -(-most // step))
    points: dict[Lack, list[int]] = {}
    for point, sample in zip(found.points["point"], found.samples(until["metric"]), strict=True):
        if len(sample) < most:
            continue
        one = statistics.estimate(sample, confidence)
        if one.undefined:
            points.setdefault(Lack.VALUES, []).append(point)
        elif not one.within(until["rel-ci"]):
            points.setdefault(Lack.PRECISION, []).append(point)
        elif not nearly_normal(sample):
            points.setdefault(Lack.CONFIDENCE, []).append(point)
    return points


def imprecise(found: Measured) -> list[int]:
    """The points that have the most replications that `until` allows, and not the precision it asks for."""
    points = lacking(found)
    return sorted([*points.get(Lack.VALUES, ()), *points.get(Lack.PRECISION, ())])
