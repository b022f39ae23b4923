"""Labels of axes."""

from matplotlib.ticker import LogFormatter

__all__ = ["PlainLog"]


class PlainLog(LogFormatter):
    """Labels of a logarithmic axis as plain numbers: "6", not "6 × 10^0", and "1000000", not "1e+06"."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The label of a value; the base chooses which values have space for one."""
        return f"{x:.9g}" if super().__call__(x, pos) else ""
