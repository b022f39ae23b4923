"""`celltrain compare`: one scenario, several policies, one table."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import InputError, ScenarioError

if TYPE_CHECKING:
    from celltrain.comparison import Comparison, Variants
    from celltrain.results import Group
    from celltrain.scenario import Scenario

__all__ = ["compare"]

ALL = "all"
"""The word for all discard policies that a scenario accepts."""

OF_SOME = (
    "--set changes all variants. To follow a note on some of them, make a file that extends the scenario, "
    "set there what the note says, and compare it: --with FILE. In Python each variant has its own settings: "
    "celltrain.compare(scenario, variants)."
)
"""What is said where notes hold for some variants alone."""

POLICY_TABLE = "switch.discard"
"""Where the settings of policies are."""


def compare(
    scenario: options.Scenario,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            metavar="A,B,C",
            help="Compare discard policies with the first one; "
            "'all' stands for all others that the scenario takes.",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=A,B,C",
            help="Compare values of any setting, for example --vary tcp.stack=reno,cubic. "
            "Commas inside brackets or quotes belong to a value, as in --vary 'KEY=[1,2],[3]'. "
            "Repeatable: all combinations.",
        ),
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="Compare SCENARIO with this scenario file. Repeatable.",
        ),
    ] = None,
    set_: options.Set = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            help="Show and judge these metrics of the summary, by name or title, instead of the usual ones; "
            'those of a group or a flow too, as "goodput of bbr". Repeatable.',
        ),
    ] = None,
    until_clear: Annotated[
        str | None,
        typer.Option(
            "--until-clear",
            metavar="MEASURE",
            help="Add replications until one variant is clearly best by this metric of the summary.",
        ),
    ] = None,
    max_replications: Annotated[
        int | None,
        typer.Option(
            "--max-replications",
            metavar="N",
            help="With --until-clear, stop at N replications. Default: 100.",
        ),
    ] = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Compare variants of a scenario, and name the best ones.

    All variants run with the same seeds. The best one is named for each measure, if it is clear.
    """
    from celltrain import comparison

    _refuse_two_ways({"--policies": policies is not None, "--vary": bool(vary), "--with": with_ is not None})
    if max_replications is not None and until_clear is None:
        raise InputError("--max-replications belongs to --until-clear, as in --until-clear goodput")
    varied = dict.fromkeys(_set_by_all(vary), "--vary")
    options.refuse_overridden(set_, varied | options.set_by_policies(policies))
    loaded = _base(scenario, set_, policies, vary)
    names = _variants(loaded, policies, vary) if with_ is None else _files(scenario, loaded, with_, set_)
    key, asked = comparison.comparison_key(loaded, names), options.asked(loaded, seed, replications)
    most = comparison.MAX_REPLICATIONS if max_replications is None else max_replications
    measures = options.measures(measure)
    if until_clear is not None:  # so many may be there from an earlier call
        asked["replications"] = most
    with options.claimed(out, "compare", key, overwrite, asked) as folder:
        with options.running("comparing", scheduler, jobs, out) as (executor, progress):
            found = comparison.compare(
                loaded,
                names,
                replications=replications,
                seed=seed,
                jobs=jobs,
                trace=folder is not None,
                measures=measures or None,
                until_clear=until_clear,
                max_replications=most,
                progress=progress,
                executor=executor,
                folder=folder,
            )
        if folder is not None:
            from celltrain.report import comparison_report

            chosen = [*_asked_for(policies, vary, with_), *_repeated("--measure", measure)]
            command = options.again("compare", scenario, set_, found.manifest, chosen)
            folder.write_text("report.html", comparison_report(found, command))
            if options.pictures():
                from celltrain.plots import draw_comparison

                draw_comparison(found, folder)
            found.write_to(folder)
    if json:
        terminal.print_json({**found.to_json(), "out": str(out) if out else None})
    else:
        _show(found, options.headline(found.manifest["name"], set_))
        options.say_results(out)
    options.end_with(found.defects)


def _set_by_all(vary: list[str] | None) -> list[str]:
    """The keys that every value of `--vary` sets: of tables those that all of them have."""
    from celltrain.scenario import keys_set

    found: list[str] = []
    for key, text in options.settings(vary, "--vary", lists=True).items():
        first, *others = [[*keys_set(key, value)] for value in _values(text)] or [[key]]
        found += [one for one in first if all(one in other for other in others)]
    return found


def _base(scenario: str, set_: list[str] | None, policies: str | None, vary: list[str] | None) -> "Scenario":
    """The scenario with the settings of `--set`, which all variants share.

    Some settings are valid only beside those that vary. Then it has those of the first variant too, which
    each variant replaces.

    Raises:
        ScenarioError: it is no valid scenario, with the first variant's settings or without.
        InputError: with them, a variant would take over what it does not set itself.
    """
    try:
        return options.load_scenario(scenario, set_)
    except ScenarioError as error:
        first = _first(policies, vary)
        if not first:
            raise
        try:
            found = options.load_scenario(scenario, [*(set_ or ()), *_pairs(first)])
            _refuse_inherited(partial(_laid_over, scenario, set_), vary, first)
            return found
        except ScenarioError as other:
            if str(other) == str(error) or "unknown key" in str(error):
                raise error from None
            of_first = ", ".join(f"{key}={value}" for key, value in first.items())
            raise ScenarioError(f"the variant with {of_first}: {other}") from error


def _laid_over(scenario: str, set_: list[str] | None, settings: Mapping[str, object]) -> "Scenario":
    """The scenario with the settings of `--set` and others."""
    from celltrain.scenario import load

    return load(scenario, options.settings([*(set_ or ()), *_pairs(settings)]).items())


def _pairs(settings: Mapping[str, object]) -> list[str]:
    """Settings as values of `--set`."""
    from celltrain.scenario import toml_value

    return [f"{key}={toml_value(value, key)}" for key, value in settings.items()]


def _refuse_inherited(
    load: "Callable[[Mapping[str, object]], Scenario]", vary: list[str] | None, first: Mapping[str, object]
) -> None:
    """Refuses tables of `--vary` that would have something of the first one, over which they are laid.

    Args:
        load: the file with some settings.
        vary: the option.
        first: the settings of the first variant.

    Raises:
        InputError: there is such a table.
    """
    for key, text in options.settings(vary, "--vary", lists=True).items():
        for value in _values(text)[1:] if isinstance(first.get(key), Mapping) else ():
            try:
                is_alone = load({**first, key: value}).key == load(first).with_({key: value}).key
            except ScenarioError:
                is_alone = False
            if not is_alone:
                raise InputError(
                    f"--vary {key}: the scenario is valid only with one of the tables, so that the others "
                    "lie over the first: write the same keys in each"
                )


def _first(policies: str | None, vary: list[str] | None) -> dict[str, object]:
    """The settings of the first variant that `--policies` or `--vary` names."""
    from celltrain.comparison import POLICY_KEY

    if policies is not None:
        names = options.words(policies, "--policies", "tail-drop,epd")
        return {} if names[0] == ALL else {POLICY_KEY: names[0]}
    values = {key: _values(some) for key, some in options.settings(vary, "--vary", lists=True).items()}
    return {key: some[0] for key, some in values.items() if some}


def _asked_for(policies: str | None, vary: list[str] | None, with_: Sequence[object] | None) -> list[str]:
    """The options that say what to compare, as they were given."""
    words = [] if policies is None else ["--policies", policies]
    return [*words, *_repeated("--vary", vary), *_repeated("--with", with_)]


def _repeated(option: str, values: Sequence[object] | None) -> list[str]:
    """An option with each of its values."""
    return [word for one in values or () for word in (option, str(one))]


def _refuse_two_ways(given: Mapping[str, bool]) -> None:
    """Refuses to compare variants of two kinds in one table."""
    chosen = [option for option, is_given in given.items() if is_given]
    if len(chosen) > 1:
        both = f"--vary {POLICY_TABLE}.policy=epd,codel beside another --vary compares all combinations"
        raise InputError(f"give one of {', '.join(given)}, not {' and '.join(chosen)}; {both}")


def _variants(loaded: "Scenario", policies: str | None, vary: list[str] | None) -> "Variants":
    """The variants that the options ask for."""
    from celltrain import comparison

    if policies is None and not vary:
        raise InputError("say what to compare: --policies tail-drop,epd or --vary KEY=A,B or --with FILE")
    if policies is not None:
        return comparison.policies(_with_all(loaded, options.words(policies, "--policies", "tail-drop,epd")))
    values = options.settings(vary, "--vary", lists=True)
    listed = {key: _values(some) for key, some in values.items()}
    if all(len(some) == 1 for some in listed.values()):
        key, value = next(iter(values.items()))
        raise InputError(f"--vary {key} has one value: list several with commas, --vary {key}={value},…")
    return comparison.vary(listed)


def _with_all(loaded: "Scenario", names: list[str]) -> list[str]:
    """The names with those that 'all' stands for: every other policy that the scenario takes."""
    from celltrain.comparison import POLICY_KEY, known_policies

    if ALL not in names:
        return names
    others, refused = [], []
    for name in known_policies():
        if name in names:
            continue
        try:
            loaded.with_({POLICY_KEY: name})
            others.append(name)
        except ScenarioError as error:
            refused.append(f"{name} ({_reason(error)})")
    if refused:
        terminal.note(f"left out, as the scenario does not take them: {'; '.join(refused)}")
    place = names.index(ALL)
    return [*names[:place], *others, *(name for name in names[place + 1 :] if name != ALL)]


def _reason(error: ScenarioError) -> str:
    """What is wrong, without the place: the setting is not in the file."""
    place = f"{POLICY_TABLE}."
    text = str(error)
    return text if place not in text else text.partition(place)[2].partition(": ")[2]


def _files(scenario: str, loaded: "Scenario", others: list[str], set_: list[str] | None) -> "Variants":
    """A variant for each of some scenario files, named after them."""
    named = {Path(scenario).stem: loaded}
    for path in others:
        if Path(path).stem in named:
            raise InputError(f"two scenarios are called {Path(path).stem}: variants need names of their own")
        named[Path(path).stem] = options.load_scenario(path, set_)
    return named


def _values(text: str) -> list[object]:
    """The values of a setting, with commas between them; those in brackets or quotes part nothing.

    Raises:
        InputError: brackets or quotes do not match.
    """
    from celltrain.comparison import parted
    from celltrain.scenario import value_of

    return list(map(value_of, parted(text)))


def _looks(until: Mapping[str, Any]) -> str:
    """How often `--until-clear` looked at its measure."""
    from celltrain.registry import title
    from celltrain.text import counted

    most = counted(until["most"], "replication")
    step = "replication" if until["first"] == 1 else counted(until["first"], "replication")
    return f"{counted(until['looks'], 'look')} at {title(until['measure'])}, one every {step}, up to {most}"


def _show_groups(found: "Comparison") -> None:
    """Prints the goodput of each group of flows under every variant, where the flows are of several."""
    from celltrain import statistics, text
    from celltrain.cli.run import MOST_GROUPS

    groups: dict[str, list[tuple[str, Group]]] = {}
    for variant, some in found.by_group().items():
        for one in some:
            groups.setdefault(one.name, []).append((variant, one))
    if len(groups) < 2:
        return
    shown = [row for name in [*groups][:MOST_GROUPS] for row in groups[name]]
    size = statistics.largest(one.goodput for _, one in shown)
    lines = [
        (one.name, variant, str(one.flows), text.interval(one.goodput, "bit/s", size))
        for variant, one in shown
    ]
    terminal.heading("Goodput of groups")
    terminal.table(("group", "variant", "flows", "goodput of all"), lines, text_columns=2)
    if len(groups) > MOST_GROUPS:
        terminal.say(f"{text.counted(len(groups) - MOST_GROUPS, 'more group')}: --json has all")


def _show(found: "Comparison", headline: str) -> None:
    from celltrain.text import counted

    m = found.manifest
    titles = [measure.title for measure in found.measures]
    terminal.say(f"{headline}: {counted(m['replications'], 'replication')} of each variant, seed {m['seed']}")
    if m.get("until_clear") is not None:
        terminal.say(_looks(m["until_clear"]))
    terminal.say(f"bottleneck: {found.bottleneck}")
    terminal.heading("Mean ± 95 % interval")
    terminal.table(("variant", *titles), found.mean_lines())
    _show_groups(found)
    terminal.heading(f"Difference from {found.baseline}, paired by replication")
    terminal.table(("variant", *titles), found.difference_lines())
    terminal.say(found.explanation())
    if found.state_lines():
        terminal.heading("State per VC")
        terminal.table(("policy", "what a switch keeps for each VC"), found.state_lines(), text_columns=2)
    terminal.say("")
    for sentence in (*found.sentences(), *found.alike_sentences(), *found.unmeasured_sentences()):
        terminal.say(sentence)
    terminal.say_notes(found.notes)
    is_of_some = any(line.startswith("under ") and "set " in line for line in found.notes)
    if is_of_some and not m.get("scenarios"):
        terminal.say(OF_SOME)
