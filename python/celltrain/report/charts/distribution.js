// Distribution functions: the share of values that do not exceed each value, a curve for each sample with marks at percentiles.
// Point or use the arrow keys to read all curves at one value.
class Distribution extends Chart {
  constructor(figure, data) {
    super(figure, data);
    this.height = 302;
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("tabindex", 0);
    this.svg.onkeydown = (event) => this.key(event);
    data.series.forEach((series, index) => {
      const item = htmlNode(this.bar, "span", "", `${series.name}: ${series.said}`);
      const sample = htmlNode(item, "span", "sample");
      sample.style.borderColor = COLOURS[index % COLOURS.length];
      sample.style.borderTopStyle = this.dashes(index)[0];
      item.prepend(sample);
    });
    this.readout.textContent = "Point at the chart, or use the arrow keys, to read the shares.";
    this.start();
  }

  // Curves of one colour have other dashes, as there may be more of them than colours: what a border and a line call them.
  dashes(index) {
    const every = [["solid", "none"], ["dashed", "7 4"], ["dotted", "2 3"]];
    return every[Math.floor(index / COLOURS.length) % every.length];
  }

  layout() {
    const values = this.data.series.flatMap((series) => series.x);
    // Zero has no logarithm: it is drawn at the smallest value above it.
    this.low = this.data.log ? Math.min(...values.filter((value) => value > 0)) : 0;
    this.high = Math.max(...values) * 1.02 || 1;
    [this.left, this.right, this.top, this.bottom] = [52, this.width - 16, 10, 250];
  }

  // The part of the axis below a value: of its logarithm where the axis is logarithmic.
  part(value) {
    if (!this.data.log) return (value - this.low) / (this.high - this.low);
    return Math.log(Math.max(value, this.low) / this.low) / Math.log(this.high / this.low);
  }

  x(value) {
    return this.left + this.part(value) * (this.right - this.left);
  }

  value(x) {
    const part = (x - this.left) / (this.right - this.left);
    return this.data.log ? this.low * (this.high / this.low) ** part : this.low + part * (this.high - this.low);
  }

  y(share) {
    return this.bottom - share * (this.bottom - this.top);
  }

  ticks() {
    if (!this.data.log) return ticks(this.low, this.high, Math.max(2, Math.min(8, this.width / 90)));
    const powers = Array.from({ length: 40 }, (_, index) => 10 ** (index - 20));
    const factors = this.high / this.low < 1000 && this.width > 500 ? [1, 2, 5] : [1];
    const every = powers.flatMap((power) => factors.map((factor) => factor * power));
    return every.filter((value) => value >= this.low && value <= this.high).map((value) => [value, shown(value)]);
  }

  draw() {
    this.svg.replaceChildren();
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const y = this.y(share);
      svgNode(this.svg, "line", { x1: this.left, x2: this.right, y1: y, y2: y, class: "axis" });
      svgNode(this.svg, "text", { x: this.left - 6, y: y + 4, "text-anchor": "end" }, `${100 * share} %`);
    }
    for (const [value, label] of this.ticks()) {
      const x = this.x(value);
      svgNode(this.svg, "line", { x1: x, x2: x, y1: this.top, y2: this.bottom, class: "axis" });
      this.tick(x, this.bottom + 18, label);
    }
    const below = { x: this.right, y: this.bottom + 40, "text-anchor": "end" };
    svgNode(this.svg, "text", below, shortened(this.data.xlabel, this.width / LETTER));
    this.data.series.forEach((series, index) => this.curve(series, COLOURS[index % COLOURS.length], this.dashes(index)[1]));
    this.cursor = svgNode(this.svg, "line", { y1: this.top, y2: this.bottom, class: "cursor", visibility: "hidden" });
    const surface = svgNode(this.svg, "rect", {
      x: this.left, y: this.top, width: this.right - this.left, height: this.bottom - this.top, class: "surface",
    });
    surface.onpointermove = (event) => this.read(Math.min(Math.max(this.place(event), this.left), this.right));
    surface.onpointerleave = () => this.cursor.setAttribute("visibility", "hidden");
  }

  // Steps: the share jumps at each value.
  curve(series, colour, dashes) {
    let path = `M${this.x(series.x[0]).toFixed(1)} ${this.y(0)}`;
    series.x.forEach((value, place) => {
      path += `H${this.x(value).toFixed(1)}V${this.y(series.share[place]).toFixed(1)}`;
    });
    const look = { fill: "none", stroke: colour, "stroke-width": 1.5, "stroke-dasharray": dashes };
    svgNode(this.svg, "path", { d: `${path}H${this.right}`, ...look });
    for (const [share, value] of series.marks) {
      svgNode(this.svg, "circle", { cx: this.x(value), cy: this.y(share), r: 4, fill: colour, stroke: "var(--paper)" });
    }
  }

  read(x) {
    this.at = x;
    const value = this.value(x);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", "visible");
    const shares = this.data.series.map((series) => {
      const share = series.x[0] > value ? 0 : series.share[before(series.x, value)];
      return `${series.name} ${rounded(100 * share, 2)} %`;
    });
    this.readout.textContent = `At most ${shown(value)} ${this.data.unit}: ${shares.join(", ")}`;
  }

  key(event) {
    const step = (this.right - this.left) / 50;
    const at = this.at === undefined ? (this.left + this.right) / 2 : this.at;
    const moves = { ArrowLeft: -step, ArrowRight: step, Home: -Infinity, End: Infinity };
    if (!(event.key in moves)) return;
    this.read(Math.min(Math.max(at + moves[event.key], this.left), this.right));
    event.preventDefault();
  }
}
