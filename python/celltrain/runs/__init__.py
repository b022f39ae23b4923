"""Runs: where they are made, how they travel, and where they are kept.

Every command goes this way. `making` hands tasks to an executor (`executors`: threads, processes, a Dask
cluster), a worker makes them (`work`), and what they measured comes back as an entry (`entry`) and is kept in
the store of the results folder (`store`) before anything else happens to it. So whatever ends the process,
the same command goes on from the runs that had ended.
"""

from celltrain.runs.store import Store

__all__ = ["Store"]
