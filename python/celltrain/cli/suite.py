"""`celltrain suite`: a whole evaluation with one command."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from celltrain import terminal
from celltrain.cli import options

if TYPE_CHECKING:
    from celltrain.comparison import Comparison
    from celltrain.files.folder import Folder
    from celltrain.suites.file import Suite
    from celltrain.suites.run import Checked, SuiteResults

__all__ = ["suite"]

RULE_KEY = "switch.discard.script.rule"


def suite(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A suite that comes with celltrain, aqm or congestion-control, or a folder."
        ),
    ],
    aqm: Annotated[
        str | None,
        typer.Option("--aqm", metavar="A,B,C", help="Evaluate these discard policies. Default: the suite's."),
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            metavar="A,B,C",
            help="Evaluate these TCP stacks, or policies with them. Default: the suite's.",
        ),
    ] = None,
    congestion_control: Annotated[
        str | None,
        typer.Option(
            "--congestion-control",
            metavar="A,B,C",
            help="Evaluate these congestion controls, each in the stack that is the suite's baseline.",
        ),
    ] = None,
    ecn: Annotated[
        bool, typer.Option("--ecn", help="Let connections use ECN, and policies mark instead of drop.")
    ] = False,
    set_: options.Set = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Evaluate policies or stacks by the statements of a suite.

    Each section of the suite runs its scenario with every policy and stack in question and with the suite's
    baseline. --set holds for all of them: a rule of your own is --aqm script with its rule set.
    """
    from celltrain.suites import file
    from celltrain.suites.run import (
        KIND,
        Asked,
        check_suite,
        old_sections,
        remove_sections,
        run_suite,
        suite_key,
    )

    loaded = file.load_suite(name)
    options.refuse_overridden(set_, _set_by_options(loaded, stack, ecn=ecn))
    wanted = Asked(
        options.words(aqm, "--aqm", "codel,pie"),
        options.words(stack, "--stack", "reno,cubic"),
        options.words(congestion_control, "--congestion-control", "reno,cubic"),
        ecn,
        options.values(set_),
    )
    key = suite_key(loaded, wanted)
    checked = check_suite(loaded, wanted, jobs)  # before the folder is claimed, whose results stay whole
    if "script" in wanted.policies and (rule := _default_rule(checked)):
        terminal.note(f'note: script has its default rule, {rule}: --set {RULE_KEY}="…" sets yours')
    asked = {k: v for k, v in (("seed", seed), ("replications", replications)) if v is not None}
    gone = old_sections(out, loaded) if out is not None and overwrite else []
    with options.claimed(out, KIND, key, overwrite, asked) as folder:
        if folder is not None:
            remove_sections(folder.path, gone)
            folder.write_json("verdicts.json", {})  # marks the folder as one of ours from the start
        with options.running("evaluating", scheduler, jobs, out) as (executor, progress):
            found = run_suite(
                loaded,
                wanted,
                replications=replications,
                seed=seed,
                jobs=jobs,
                progress=progress,
                executor=executor,
                folder=folder,
                finish=partial(_report, is_drawn=folder is not None and options.pictures()),
                checked=checked,
            )
        if folder is not None:
            from celltrain.report.suite import suite_report

            named = {"--aqm": aqm, "--stack": stack, "--congestion-control": congestion_control}
            words = ["celltrain", "suite", name, *_again(named, ecn, set_, asked)]
            folder.write_text("report.html", suite_report(found, words))
            folder.write_json("verdicts.json", found.to_json())
            folder.finish(found.manifest())
    if json:
        terminal.print_json({**found.to_json(), "out": str(out) if out else None})
    else:
        _show(found)
        options.say_results(out)
    options.end_with(found.defects)


def _report(found: "Comparison", folder: "Folder", *, is_drawn: bool) -> None:
    """The report of one section, and its picture."""
    from celltrain.report import comparison_report

    folder.write_text("report.html", comparison_report(found))
    if is_drawn:
        from celltrain.plots import draw_comparison

        draw_comparison(found, folder)


def _default_rule(checked: "Checked") -> str | None:
    """The rule of the policy `script` where a section evaluates the default one."""
    from celltrain.comparison import POLICY_KEY
    from celltrain.suites.variants import parameters

    default: str = parameters("script")["rule"]["default"]
    for scenario, planned in checked.values():
        for settings in planned.settings.values():
            if settings.get(POLICY_KEY) == "script":
                found = scenario.with_(settings).resolved()["switch"]["discard"]["script"]["rule"]
                if found == default:
                    return default
    return None


def _set_by_options(suite: "Suite", stack: str | None, *, ecn: bool) -> dict[str, str]:
    """The keys that set variants apart, with the options that name them."""
    from celltrain.comparison import POLICY_KEY
    from celltrain.suites.variants import STACK_KEY

    own = {STACK_KEY: "--stack"} if suite.stacks else {POLICY_KEY: "--aqm"}
    own |= {STACK_KEY: "--stack"} if stack is not None else {}
    return own | ({"tcp.ecn": "--ecn"} if ecn else {})


def _again(
    named: Mapping[str, str | None], ecn: bool, pairs: Sequence[str] | None, asked: Mapping[str, int]
) -> list[str]:
    """The options that were given."""
    words = [word for option, value in named.items() if value is not None for word in (option, value)]
    words += ["--ecn"] if ecn else []
    words += [word for pair in pairs or () for word in ("--set", pair)]
    return [*words, *(word for name, value in asked.items() for word in (f"--{name}", str(value)))]


def _show(found: "SuiteResults") -> None:
    from celltrain.suites.run import verdict_columns, verdict_lines

    terminal.say(found.title)
    for section in found.suite.sections:
        terminal.heading(f"{section.place} {section.title}")
        terminal.say(section.question)
        terminal.table(verdict_columns(found.suite), verdict_lines(found, section.place), text_columns=3)
        for line in (*found.alike(section.place), *found.causes(section.place)):
            terminal.say(line)
