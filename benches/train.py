"""Runs what a profile-guided build learns from: `python benches/train.py`, with the module that counts.

It runs the benchmarks, a scenario for every policy, scheduler and allocator, and the example networks.
Every run is short, so that none dominates the profile.
"""

from pathlib import Path

import celltrain as ct

BENCHES = Path(__file__).resolve().parent
SCENARIOS = BENCHES.parent / "scenarios"


def main() -> None:
    """Runs them one after another."""
    benchmarks = [ct.load(path).with_(duration="1 s") for path in sorted(BENCHES.glob("*.toml"))]
    for path in sorted((*SCENARIOS.glob("regression/*.toml"), *SCENARIOS.glob("networks/*.toml"))):
        benchmarks.append(ct.load(path))
    for scenario in benchmarks:
        ct.run(scenario, replications=1, jobs=1)


if __name__ == "__main__":
    main()
