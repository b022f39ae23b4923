"""A comparison: its folder, its report and its JSON."""

from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import arguments, display
from celltrain.comparison.frames import WholeFrames
from celltrain.comparison.measured import bottlenecks
from celltrain.comparison.tables import Tables
from celltrain.comparison.variants import POLICY_KEY
from celltrain.files import manifests
from celltrain.files.folder import REPORT, Folder, claim
from celltrain.results import Result, about, has_old_names, read_frames, record_frame
from celltrain.scenario import toml_value

if TYPE_CHECKING:
    from celltrain.plots.namespaces import ComparisonPlots

__all__ = ["KIND", "Comparison"]

KIND = "compare"
"""The kind of results in the manifest of a comparison's folder."""


class Comparison(Tables):
    """The results of one scenario in several variants, with the same seeds.

    The frames are `summary`, `flows`, `ports`, `series` and `distributions`: those of all variants, one below
    the other, each row with its `variant` in front. A column that the results of a variant lack is null.
    """

    @staticmethod
    def read(path: str | PathLike[str]) -> "Comparison":
        """Opens the folder of a comparison.

        Raises:
            InputError: the folder holds no complete comparison.
        """
        place = arguments.path("path", path)
        manifest = manifests.read_manifest(place, KIND)
        column = "variant"
        if has_old_names(manifest):  # nothing but policies could vary then
            column = "policy"
            varied = {name: {POLICY_KEY: toml_value(name)} for name in manifest["policies"]}
            manifest = {**manifest, "variants": varied}
        names, ports = manifest["variants"], bottlenecks(manifest)
        whole, each = WholeFrames(read_frames(place, manifest)), manifest["replications"]
        results = {
            name: Result(
                {
                    **manifest,
                    "variant": name,
                    "bottleneck": ports[name],
                    "units": manifest.get("variant_units", {}).get(name, manifest.get("units", {})),
                    "fingerprints": manifest["fingerprints"][n * each :][:each],
                },
                partial(whole.of_variant, column, name),
            )
            for n, name in enumerate(names)
        }
        return Comparison(manifest, results)

    def write_to(self, target: Folder) -> None:
        """Writes every frame and the manifest to a folder that was claimed."""
        import polars as pl

        target.about = about(self.manifest)
        target.write_frames(self._frames(series=False))
        traced = {name: result for name, result in self.results.items() if result.is_traced}
        if traced:
            parts = (part for name, result in traced.items() for part in result.series_parts(variant=name))
            schema = {"variant": pl.String} | record_frame("series", []).schema
            target.write_parts("series", parts, schema)
        target.finish(self.manifest)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder of the comparison with its report, and returns its path.

        `celltrain compare --out` writes the same, and a picture: here `plot` makes it. Report and pictures of
        this comparison that are there already stay.
        """
        asked = manifests.asked(self.manifest)
        with claim(path, KIND, self.manifest["key"], asked=asked, overwrite=overwrite) as target:
            self.fill(target)
        return arguments.from_home(path)

    def fill(self, target: Folder) -> None:
        """Writes everything to a folder that was claimed; report and pictures of this comparison stay."""
        from celltrain.report import comparison_report

        target.keep_others()
        target.write_unless_kept(REPORT, lambda: comparison_report(self))
        self.write_to(target)

    @property
    def plot(self) -> "ComparisonPlots":
        """Pictures of the comparison, as figures: `.compare()`, `.queue()`, `.windows()`, `.cdf("delay")`."""
        from celltrain.plots.namespaces import ComparisonPlots

        return ComparisonPlots(self)

    @cached_property
    def notes(self) -> list[str]:
        """What `celltrain compare` prints of the scenarios and the runs, a sentence each; see `Result.notes`.

        A note that does not hold for all variants names those that it holds for.
        """
        from celltrain.notes.advice import advice_on_variants

        return advice_on_variants(self)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.variants)}: {self.manifest['name']!r}>"

    def _repr_html_(self) -> str:
        columns = ("variant", *(measure.title for measure in self.measures))
        parts = (
            display.caption(self),
            display.table(columns, self.mean_lines(), "Mean ± 95 % interval"),
            display.table(columns, self.difference_lines(), f"Difference from {self.baseline}, paired"),
            display.lines(
                [
                    *self.sentences(),
                    *self.alike_sentences(),
                    *self.unmeasured_sentences(),
                    self.explanation(),
                ]
            ),
            display.notes(self.notes),
        )
        return "".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain compare --json` prints.

        `until_clear` is null where a number of replications was asked for. Otherwise it has the `measure`
        that was followed, the number of `looks` at it, the replications of each variant at the `first` look,
        and the `most` that were allowed. Looks at fewer than three replications decide nothing and do not
        count. All verdicts are at the level of the last look, which may spend 1/(looks (looks + 1)) of the
        error.
        """
        rows = []
        for name, result in self.results.items():
            for measure in self.measures:
                found, difference = result.estimate(measure.name), self.difference(name, measure)
                rows.append(
                    {
                        "variant": name,
                        "metric": measure.name,
                        "unit": measure.unit,
                        **found.row(),
                        "difference": difference.mean,
                        "difference_ci95": difference.half_width,
                        "difference_undefined": difference.undefined,
                        "differs": self.differs(name, measure),
                        "matters": self.matters(name, measure),
                        **self._counts(name, measure),
                    }
                )
        kept = ("name", "celltrain", "seed", "replications", "fingerprint")
        return {
            **{key: self.manifest[key] for key in kept},
            "notes": self.notes,
            "until_clear": self.manifest.get("until_clear"),
            "baseline": self.baseline,
            "bottlenecks": bottlenecks(self.manifest),
            "state_per_vc": dict(self.state_lines()),
            "rows": rows,
            "alike": self.alike(),
            "groups": [
                {"variant": name, **one.to_json()}
                for name, groups in self.by_group().items()
                for one in groups
            ],
            "best": [self.leader(measure).to_json() for measure in self.judged],
            "gain_of_pairing": {measure.name: self.gain_of_pairing(measure) for measure in self.measures},
        }
