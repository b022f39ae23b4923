"""Requests whose answers are still on their way when a run ends: response times leave them out."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from celltrain.notes.schedule import active_time
from celltrain.notes.tables import flow_tables, traffic_of
from celltrain.results.censored import REQUESTS, Censored
from celltrain.scenario import Scenario
from celltrain.sweeps.axes import in_base_unit

__all__ = ["ANSWERED", "ended_requests", "open_requests"]

ANSWERED = ("flow", "requests_completed", "response_time_mean", "response_time_max")
"""Columns of flows by which the requests without an answer are found."""

ALIKE = 2
"""The multiple of the mean response time up to which all response times are alike."""

LONG = 0.25
"""The share of the measured time from which on a mean response time is long.

No open request can be much older then.
"""

ERRORS = 2
"""Standard errors by which an estimate has to be beyond doubt."""


class _Client(NamedTuple):
    """A client that asks until the run ends: seconds."""

    measured: float
    """From its start, or from the end of the warm-up, to the end of the run."""
    think: float
    distribution: str
    """That of its think times."""

    def error(self, clients: int, answers: float) -> float:
        """The error of the share of the time for which some such clients think, by their number of answers.

        Fixed times may be in step, so that each client is off by half of one. A Pareto distribution of shape
        1.5 has no variance: sums spread as those of a stable law.
        """
        times = answers + clients
        spread = {"fixed": clients / 2, "exponential": math.sqrt(times), "pareto": math.pow(times, 2 / 3)}
        return self.think / self.measured * spread[self.distribution]


def open_requests(scenario: Scenario, rows: Iterable[Sequence[Any]], replications: int) -> float:
    """How many requests of a run are open at its end: an estimate; 0 where they are like the answered ones.

    Results count answers, not requests. A client thinks or has one request open. It thinks once for every
    answer, and is as often found with an open request as it waits for one: for what its think times leave of
    the measured time. It waits at least for the answers that are counted; the rest of its waiting is for the
    open ones.

    Args:
        scenario: what ran.
        rows: `ANSWERED` of the flows, of all replications.
        replications: how many.
    """
    clients = dict(_clients(scenario))
    alike = Counter(clients.values())
    answers = dict.fromkeys(alike, 0.0)
    waited = longest = 0.0
    for name, answered, mean, most in rows:
        client = clients.get(str(name))
        if client is not None and answered:
            answers[client] += answered
            waited += answered * (mean or 0.0) / client.measured
            longest = max(longest, (most or 0.0) / client.measured)
    every = len(clients) * replications
    thinking = sum(client.think / client.measured * n for client, n in answers.items())
    error = math.hypot(*(client.error(alike[client] * replications, n) for client, n in answers.items()))
    waiting = max(every - thinking - ERRORS * error, waited)
    # In shares of the measured time: the mean age of an open request, and the mean response time.
    age, mean = (waiting - waited) / max(waiting, 1), waited / max(sum(answers.values()), 1)
    are_alike = age <= mean < LONG and longest <= ALIKE * mean
    return 0.0 if are_alike else min(waiting, every) / replications


def ended_requests(scenario: Scenario, rows: Iterable[Sequence[Any]], replications: int) -> Censored:
    """How many requests were answered, and how many were open at the end; see `open_requests`."""
    every = list(rows)
    answered = sum(row[1] or 0.0 for row in every)
    waiting = open_requests(scenario, every, replications) * replications
    return Censored(REQUESTS, round(answered), round(waiting), is_estimate=True)


def _clients(scenario: Scenario) -> Iterator[tuple[str, _Client]]:
    """The flows of requests and answers that begin and do not stop before the run ends."""
    for name, tables in flow_tables(scenario.to_dict(), scenario.core.flow_names()):
        traffic = traffic_of(tables)
        begin, end = active_time(scenario, tables)
        if traffic.get("kind") == "request-response" and begin < end == scenario.duration:
            think, _ = in_base_unit(traffic.get("think")) or (0.0, "")
            yield name, _Client(end - begin, think, str(traffic.get("think-distribution", "fixed")))
