"""`celltrain compare`: one scenario, several policies, one table."""

from typing import TYPE_CHECKING, Annotated

import typer

from celltrain import terminal
from celltrain.cli import options

if TYPE_CHECKING:
    from celltrain.comparison import Comparison

__all__ = ["compare"]


def compare(
    scenario: options.Scenario,
    policies: Annotated[
        str,
        typer.Option(
            "--policies", metavar="A,B,C", help="Discard policies; the others are compared with the first."
        ),
    ],
    set_: options.Set = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    jobs: options.Jobs = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Run a scenario under several discard policies with the same seeds and say which is best by what."""
    from celltrain import comparison
    from celltrain.scenario import load

    loaded = load(scenario, options.settings(set_))
    names = [name.strip() for name in policies.split(",") if name.strip()]
    with options.claimed(out, "compare", comparison.comparison_key(loaded, names), overwrite) as folder:
        with options.watched("comparing") as progress:
            found = comparison.compare(
                loaded,
                names,
                replications=replications,
                seed=seed,
                jobs=jobs,
                trace=folder is not None,
                progress=progress,
            )
        if folder is not None:
            from celltrain.plots import draw_comparison
            from celltrain.report import comparison_report

            folder.write_text("report.html", comparison_report(found))
            draw_comparison(found, folder)
            found.write_to(folder)
    if json:
        terminal.print_json({**found.to_json(), "out": str(out) if out else None})
        return
    _show(found)
    if out:
        terminal.say(f"results: {out}, report: {out}/report.html")


def _show(found: "Comparison") -> None:
    from celltrain import text

    manifest = found.manifest
    terminal.say(
        f"{manifest['name']}: {manifest['replications']} replications of each policy, seed {manifest['seed']}"
    )
    units = {measure: found.unit(measure) for measure in found.measures}
    terminal.heading("Mean ± 95 % interval")
    terminal.table(
        ("policy", *(measure.title for measure in found.measures)),
        [
            (policy, *(text.interval(result.estimate(m.metric), units[m]) for m in found.measures))
            for policy, result in found.results.items()
        ],
    )
    terminal.heading(f"Difference from {found.baseline}, paired by replication")
    terminal.table(
        ("policy", *(measure.title for measure in found.measures)),
        [
            (policy, *(text.interval(found.difference(policy, m), units[m]) for m in found.measures))
            for policy in found.policies[1:]
        ],
    )
    for sentence in verdicts(found):
        terminal.say(sentence)


def verdicts(found: "Comparison") -> list[str]:
    """A sentence a measure: which policy is best by it, and how sure that is."""
    from celltrain import text

    sentences = []
    for verdict in map(found.verdict, found.measures):
        lead = text.interval(verdict.lead, verdict.unit)
        sure = (
            f"ahead of {verdict.runner_up} by {lead}"
            if verdict.clear
            else f"but not to be told from {verdict.runner_up} ({lead}) with these replications"
        )
        sentences.append(f"Best by {verdict.measure.title}: {verdict.best}, {sure}.")
    return sentences
