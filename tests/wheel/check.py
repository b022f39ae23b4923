"""Installs a wheel as a user would, and uses it: `python tests/wheel/check.py [--lab] WHEEL-OR-ITS-FOLDER`.

The virtual environment is new and the folder is empty. Neither the repository nor Rust is on a path. Exits
with status 1 at the first thing that does not work. With `--lab` the wheel must hold the lab: every released
one does.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

LARGEST = 8 << 20
"""Bytes of a wheel at most. One with line tables has 19 MB."""

INSIDE = (
    "celltrain/papers/library/espd/paper.toml",
    "celltrain/papers/library/abr-vbr/published.csv",
    "celltrain/scenarios/teaching/lost-cell.toml",
    "celltrain/scenarios/sweeps/buffer-size.toml",
    "celltrain/suites/library/aqm/suite.toml",
    "celltrain/suites/library/congestion-control/suite.toml",
    "celltrain/report/charts/base.js",
    "celltrain/_core.pyi",
    "celltrain/py.typed",
)
"""Some file of each kind that a wheel must hold."""

LAB = "celltrain/lab/page/index.html"
"""The page of the lab: in a wheel that was built after `make lab`."""


class Place:
    """A new virtual environment with the wheel, and an empty folder to work in."""

    def __init__(self, top: Path) -> None:
        self.environment, self.work = top / "venv", top / "work"
        self.work.mkdir()
        venv.create(self.environment, with_pip=True)
        self.scripts = self.environment / ("Scripts" if os.name == "nt" else "bin")
        kept = ("SYSTEMROOT", "TEMP", "TMP", "PIP_CONFIG_FILE", "PIP_INDEX_URL", "HOME", "USERPROFILE")
        self.variables = {name: os.environ[name] for name in kept if name in os.environ}
        self.variables["PATH"] = os.pathsep.join((str(self.scripts), "/usr/bin", "/bin"))
        self.variables["MPLBACKEND"] = "agg"

    def call(self, *words: str, status: int = 0) -> str:
        """Runs a command of the environment; what it prints on stdout."""
        command = [str(self.scripts / words[0]), *words[1:]]
        print("$", *words, flush=True)
        done = subprocess.run(
            command, cwd=self.work, env=self.variables, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode != status:
            sys.exit(f"exit status {done.returncode}, not {status}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def expect(self, *names: str) -> None:
        """Ends where one of some files is not there."""
        for name in names:
            if not (self.work / name).is_file():
                sys.exit(f"{name} is missing")


def look_inside(wheel: Path, *, lab: bool) -> None:
    """The tag, the size and the files of a wheel; with `lab`, that page too."""
    if "-abi3-" not in wheel.name:
        sys.exit(f"{wheel.name} is for one version of Python, not for all since 3.11")
    if wheel.stat().st_size > LARGEST:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size:,} bytes, more than {LARGEST:,}")
    with zipfile.ZipFile(wheel) as archive:
        expected = (*INSIDE, LAB) if lab else INSIDE
        missing = [name for name in expected if name not in archive.namelist()]
    if missing:
        sys.exit(f"{wheel.name} lacks {', '.join(missing)}")


def use(place: Place, wheel: Path) -> None:
    """What a user does first."""
    place.call("pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    place.call("celltrain", "--version")
    place.call("celltrain", "new", "first")
    place.call("celltrain", "run", "first/scenario.toml", "--replications", "2", "--out", "results/first")
    place.expect("results/first/report.html", "results/first/summary.parquet")
    place.call("celltrain", "new", "cells", "--example", "lost-cell")
    place.call("celltrain", "check", "cells/scenario.toml")
    answer = json.loads(place.call("celltrain", "reproduce", "espd", "--replications", "3", "--json"))
    if not answer["claims"] or not answer["rows"]:
        sys.exit("the reproduction has no claims or no rows")
    place.call("celltrain", "run", "first/scenario.toml", "--plots", "--out", "results/drawn", status=2)
    place.call(
        "python",
        "-c",
        "import celltrain as ct; print(ct.run(ct.load('first/scenario.toml'), replications=1))",
    )


def use_pictures(place: Place, wheel: Path) -> None:
    """The same with the extra that draws."""
    place.call("pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[plots]")
    compared = ("compare", "first/scenario.toml", "--policies", "tail-drop,epd", "--replications", "2")
    place.call("celltrain", *compared, "--out", "results/compared")
    place.expect("results/compared/report.html", "results/compared/plots/comparison.png")


def use_lab(place: Place) -> None:
    """The address of the page with a scenario in it."""
    address = place.call("celltrain", "lab", "first/scenario.toml", "--link")
    if not address.startswith("file:") or "#" not in address:
        sys.exit(f"the lab has no address for a scenario: {address}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Install a wheel as a user would, and use it.")
    parser.add_argument("wheel", type=Path, help="A wheel, or the folder that holds one.")
    parser.add_argument("--lab", action="store_true", help="Fail where the wheel holds no page of the lab.")
    arguments = parser.parse_args()
    named = arguments.wheel.resolve()
    wheel = next(iter(named.glob("*.whl")), named) if named.is_dir() else named
    look_inside(wheel, lab=arguments.lab)
    with TemporaryDirectory() as top:
        place = Place(Path(top))
        use(place, wheel)
        use_pictures(place, wheel)
        if arguments.lab:
            use_lab(place)
    print(f"{wheel.name} works")


if __name__ == "__main__":
    main()
