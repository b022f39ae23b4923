"""A paper made up for tests: a table of series, curves, bars, a figure over time, ranges, claims."""

__all__ = ["BUFFERS", "FIXED_START", "ID", "LINES", "PAPER_TOML", "PUBLISHED", "TITLE"]

ID, TITLE = "tiny-paper", "A paper that nobody wrote"
LINES = {"epd": {"switch.discard.policy": "epd"}, "tail drop": {"switch.discard.policy": "tail-drop"}}
BUFFERS = ("100 cells", "200 cells", "400 cells")
FIXED_START = {"topology.sources": 1, "traffic": {"kind": "greedy", "start": "0 ms"}}
"""Nothing is drawn: two sources would tie."""
PUBLISHED = """table,column,row,unit,published,note
Figure 1,"epd, 100 cells",throughput,Mbit/s,100 .. 150,read off the figure
Figure 1,"epd, 200 cells",throughput,Mbit/s,120 ..,
Figure 1,"epd, 400 cells",throughput,Mbit/s,1,
Figure 2,epd,flow 1,packets,.. 5,
Table 1,two,start,s,,the scan is not legible
"""

PAPER_TOML = """
title = "A paper that nobody wrote"
reference = "Nobody, nowhere"
stacks = ["reno", "sack"]
headline = ["throughput"]

[rows.start]
unit = "s"
value = 0

[rows.window]
name = "largest window"
unit = "B"
value = 'largest(traces("cwnd"))'

[rows.throughput]
unit = "Mbit/s"
value = "run.throughput / 1e6"

[rows.loss]
unit = "%"
value = "100 * run.cell_loss_ratio"

[rows.flow]
name = "flow {x}"
over = [1, 2]
unit = "packets"
value = "flows.frames_delivered[{x - 1}]"

[columns]
lines = [
    { name = "epd", settings = { "switch.discard.policy" = "epd" } },
    { name = "tail drop", settings = { "switch.discard.policy" = "tail-drop" } },
]

[[table]]
name = "Table 1"
title = "Starts"
scenario = "base.toml"
parameter = "start"
rows = ["start", "window"]
trace = true
transposed = true

[[table.columns]]
name = "one"
settings = { "topology.sources" = 1, traffic = { kind = "greedy", start = "0 ms" } }

[[table.columns]]
name = "two"
settings = { "topology.sources" = 1, "link.delay" = "2 ms", traffic = { kind = "greedy", start = "0 ms" } }

[[figure]]
name = "Figure 1"
title = "Throughput by buffer"
scenario = "base.toml"
parameter = "buffer"
lines = "lines"
steps = ["100 cells", "200 cells", "400 cells"]
step = { "switch.buffer" = "{x}" }
rows = ["throughput", "loss"]

[[figure]]
name = "Figure 2"
title = "Packets by flow"
scenario = "base.toml"
parameter = "policy"
columns = "lines"
rows = "flow"
view = "bars"

[[figure]]
name = "Figure 3"
title = "Windows in kilobytes"
scenario = "base.toml"
parameter = "policy"
columns = "lines"
rows = "throughput"
series = 'grouped(traces("cwnd"), 1e-3, "kB", groups)'
series-title = "windows"
with = { groups = { "both" = "1 .. 2" } }

[[claim]]
id = "grows"
text = "Throughput grows with the buffer"
quote = "more buffer, more throughput"
place = "section 1"
rises = 'row("Figure 1", "throughput", "epd")'
unit = "Mbit/s"
name = "throughput"

[[claim]]
id = "in-range"
text = "It is what the figure shows"
inside = 'row("Figure 1", "throughput", among=["epd, 200 cells"])'
unit = "Mbit/s"
name = "throughput"

[[candidate]]
name = "small-segments"
text = "Segments of 300 bytes"
settings = { "tcp.mss" = "300 B" }

[[fitted]]
choice = "the segment"
on = ["Table 1"]
tried = 2
"""
