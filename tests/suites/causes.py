"""Runs what tests the causes of a suite: `python tests/suites/causes.py SUITE [SECTION...]`.

Each line has what a run gave, and what the suite's `causes.toml` says that it gave.
"""

import sys

from celltrain import statistics, text
from celltrain.experiment import run
from celltrain.scenario import Scenario, load
from celltrain.suites.causes import Cause
from celltrain.suites.file import Section, Suite, load_suite
from celltrain.suites.measures import sample_of
from celltrain.suites.variants import Asked, plan


def varied(suite: Suite, section: Section, cause: Cause) -> dict[str, Scenario]:
    """The scenarios of the variant and of its baseline, with what the cause varies."""
    planned = plan(suite, section, Asked())
    baseline = planned.baselines[cause.variant]
    plain = load(section.scenario)
    return {
        name: plain.with_(
            {**planned.settings[name], **({} if cause.alone and name == baseline else cause.settings)}
        )
        for name in (cause.variant, baseline)
    }


def repeat(suite: Suite, section: Section, cause: Cause) -> None:
    """Prints a line for each measure of a cause in a section."""
    scenarios = varied(suite, section, cause)
    results = [run(one, replications=cause.replications, jobs=1) for one in scenarios.values()]
    for statement in section.statements:
        if statement.measure not in cause.measures:
            continue
        found, baseline = map(sample_of(suite.measures, statement.measure), results)
        means = [statistics.estimate(one, unit="").mean for one in (found, baseline)]
        ratio = text.percent(means[0] / means[1] if means[1] else None)
        verdict = statement.judge(found, baseline).verdict
        line = f"{section.place} {cause.variant} {statement.measure}: {ratio}, {verdict} (file: {cause.gave})"
        sys.stdout.write(f"{line}\n")


def main(name: str, *places: str) -> None:
    """Repeats the causes of a suite in all sections, or in those that are named."""
    suite = load_suite(name)
    for cause in suite.causes:
        for place in cause.sections:
            if not places or place in places:
                repeat(suite, suite.section(place), cause)


if __name__ == "__main__":
    main(*sys.argv[1:])
