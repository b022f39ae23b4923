"""One scenario in several variants: which one, here, and what does it cost?

`variants` says what varies, `run` runs it, and a `Comparison` is what came out. It is made in layers:
`frames` puts those of all variants together, `measured` has the measures, `differences` judges them, `tables`
writes it all for people, and `result` knows the folder.
"""

from celltrain.comparison.result import KIND, Comparison
from celltrain.comparison.run import MAX_REPLICATIONS, compare
from celltrain.comparison.variants import (
    POLICY_KEY,
    Variants,
    comparison_key,
    known_policies,
    parted,
    policies,
    unknown_policy,
    vary,
)

__all__ = [
    "KIND",
    "MAX_REPLICATIONS",
    "POLICY_KEY",
    "Comparison",
    "Variants",
    "compare",
    "comparison_key",
    "known_policies",
    "parted",
    "policies",
    "unknown_policy",
    "vary",
]
