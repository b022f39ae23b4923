"""What someone who reads numbers should know of the runs that gave them: locks, limits, losses, warm-up."""

from celltrain.notes.advice.alike import measured_the_same
from celltrain.notes.advice.paper import advice_on_paper
from celltrain.notes.advice.runs import advice, advice_on_variants
from celltrain.notes.advice.sweep import advice_on_sweep

__all__ = ["advice", "advice_on_paper", "advice_on_sweep", "advice_on_variants", "measured_the_same"]
