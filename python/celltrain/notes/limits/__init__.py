"""What holds flows up for most of the time, and what there is to do: sentences for notes."""

from celltrain.notes.limits.configuration import Configuration
from celltrain.notes.limits.flows import BY_TIMEOUT, BY_WINDOW, FLOW, MOST_OF_THE_TIME, means
from celltrain.notes.limits.network import Network
from celltrain.notes.limits.ports import PORT, Ports
from celltrain.notes.limits.waiting import sentences
from celltrain.notes.limits.wording import BEST_EFFORT

__all__ = [
    "BEST_EFFORT",
    "BY_TIMEOUT",
    "BY_WINDOW",
    "FLOW",
    "MOST_OF_THE_TIME",
    "PORT",
    "Configuration",
    "Network",
    "Ports",
    "means",
    "sentences",
]
