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

    loaded = options.load_scenario(scenario, set_)
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
    else:
        _show(found)
        if out:
            terminal.say(f"results: {out}, report: {out}/report.html")
    options.end_with(found.defects)


def _show(found: "Comparison") -> None:
    m = found.manifest
    titles = [measure.title for measure in found.measures]
    terminal.say(f"{m['name']}: {m['replications']} replications of each policy, seed {m['seed']}")
    terminal.heading("Mean ± 95 % interval")
    terminal.table(("policy", *titles), found.mean_lines())
    terminal.heading(f"Difference from {found.baseline}, paired by replication")
    terminal.table(("policy", *titles), found.difference_lines())
    terminal.heading("State per VC")
    terminal.table(("policy", "what a switch keeps for each VC"), found.state_lines(), text_columns=2)
    for sentence in found.sentences():
        terminal.say(sentence)
