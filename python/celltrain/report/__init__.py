"""Reports: one HTML file each, with interactive charts, that works without a network.

They say what was asked, what came out, against what, how sure it is, and how to run it again.
"""

from celltrain.report.comparison import comparison_report
from celltrain.report.papers import PapersReport
from celltrain.report.reproduction import reproduction_report
from celltrain.report.run import run_report

__all__ = ["PapersReport", "comparison_report", "reproduction_report", "run_report"]
