"""What holds flows up for most of the time, and what there is to do: sentences for notes."""

from celltrain.notes.limits.flows import BY_TIMEOUT, BY_WINDOW, FLOW, MOST_OF_THE_TIME
from celltrain.notes.limits.ports import PORT, Ports
from celltrain.notes.limits.waiting import sentences

__all__ = ["BY_TIMEOUT", "BY_WINDOW", "FLOW", "MOST_OF_THE_TIME", "PORT", "Ports", "sentences"]
