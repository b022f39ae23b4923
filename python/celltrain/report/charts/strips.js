// Time series one above the other over the same time: drag to zoom, point or use the arrow keys to read.
class Strips extends Chart {
  constructor(figure, data) {
    super(figure, data);
    this.full = [data.from, data.to];
    this.range = this.full;
    this.above = this.peak();
    this.height = data.strips.reduce((sum, strip) => sum + strip.height + 4, 30 + this.above);
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("tabindex", 0);
    this.svg.onkeydown = (event) => this.key(event);
    // Of more groups than colours some would have one colour: the names of their strips say which is which.
    const known = this.groups().length <= COLOURS.length ? this.groups() : [];
    for (const [group, colour] of known) {
      const item = htmlNode(this.bar, "span", "", group);
      const swatch = htmlNode(item, "span", "swatch");
      swatch.style.borderColor = swatch.style.background = colour;
      item.prepend(swatch);
    }
    this.reset = htmlNode(this.bar, "button", "", "whole time");
    this.reset.type = "button";
    this.reset.hidden = true;
    this.reset.onclick = () => this.zoom(this.full);
    this.readout.textContent = "Point at the chart, or use the arrow keys, to read values; drag to zoom.";
    this.start();
  }

  layout() {
    const { strips, xlabel } = this.data;
    const longest = Math.max(...strips.map((strip) => strip.name.length));
    this.left = Math.min(longest * LETTER + 14, 0.28 * this.width);
    this.right = this.width - Math.max(...[xlabel, ...strips.map((strip) => strip.scale || "")].map((one) => one.length)) * LETTER - 12;
    this.names = this.labels((this.left - 10) / LETTER);
  }

  // The lines of the name of each strip: its words, where it is high enough for them.
  labels(most) {
    const names = this.data.strips.map((strip) => strip.name);
    const short = told(names, most);
    return this.data.strips.map((strip, index) => {
      const lines = wrapped(strip.name, most);
      const fits = lines.every((line) => line.length <= most) && lines.length * LINE <= strip.height;
      return fits ? lines : [short[index]];
    });
  }

  // How far peaks reach above the first strip.
  peak() {
    let top = 0;
    return this.data.strips.reduce((most, strip) => {
      const height = strip.v.reduce((one, value) => Math.max(one, value), 0) * (strip.height / strip.max);
      top += strip.height;
      const reach = height - top;
      top += 4;
      return Math.max(most, reach);
    }, 0);
  }

  groups() {
    const names = [...new Set(this.data.strips.map((strip) => strip.group).filter(Boolean))];
    return names.map((name, index) => [name, COLOURS[index % COLOURS.length]]);
  }

  x(t) {
    return this.left + ((t - this.range[0]) / (this.range[1] - this.range[0])) * (this.right - this.left);
  }

  t(x) {
    return this.range[0] + ((x - this.left) / (this.right - this.left)) * (this.range[1] - this.range[0]);
  }

  draw() {
    this.svg.replaceChildren();
    const colours = new Map(this.groups());
    const bottom = this.height - 26;
    for (const [t, label] of ticks(...this.range, Math.max(2, Math.min(8, (this.right - this.left) / 80)))) {
      svgNode(this.svg, "line", { x1: this.x(t), x2: this.x(t), y1: 0, y2: bottom, class: "axis" });
      // The last label ends where the axis does: the name of the axis begins there.
      const anchor = this.x(t) + (label.length * LETTER) / 2 > this.right ? "end" : "middle";
      svgNode(this.svg, "text", { x: this.x(t), y: bottom + 15, "text-anchor": anchor }, label);
    }
    svgNode(this.svg, "text", { x: this.right + 8, y: bottom + 15 }, this.data.xlabel);
    let top = this.above;
    this.values = this.data.strips.map((strip, index) => {
      const value = this.strip(strip, this.names[index], top, colours.get(strip.group) || COLOURS[6]);
      top += strip.height + 4;
      return value;
    });
    this.cursor = svgNode(this.svg, "line", { y1: 0, y2: bottom, class: "cursor", visibility: "hidden" });
    this.brush = svgNode(this.svg, "rect", { y: 0, height: bottom, width: 0, class: "brush" });
    this.listen(bottom);
  }

  strip(strip, name, top, colour) {
    const base = top + strip.height;
    const y = (value) => base - (value / strip.max) * strip.height;
    svgNode(this.svg, "line", { x1: this.left, x2: this.right, y1: base, y2: base, class: "axis" });
    name.forEach((line, place) => {
      const y = base - 4 - LINE * (name.length - 1 - place);
      svgNode(this.svg, "text", { x: this.left - 8, y, "text-anchor": "end" }, line);
    });
    if (strip.scale) {
      svgNode(this.svg, "line", { x1: this.left, x2: this.right, y1: top, y2: top, class: "axis" });
      svgNode(this.svg, "text", { x: this.right + 8, y: top + 10, class: "scale" }, strip.scale);
    }
    const first = before(strip.t, this.range[0]);
    const last = Math.min(before(strip.t, this.range[1]) + 1, strip.t.length - 1);
    let path = "";
    for (let index = first; index <= last; index += 1) {
      const x = Math.min(Math.max(this.x(strip.t[index]), this.left), this.right);
      path += `${path ? "L" : "M"}${x.toFixed(1)} ${y(strip.v[index]).toFixed(1)}`;
    }
    const begin = Math.min(Math.max(this.x(strip.t[first]), this.left), this.right);
    svgNode(this.svg, "path", { d: `${path}V${base}H${begin.toFixed(1)}Z`, fill: colour, "fill-opacity": 0.25 });
    svgNode(this.svg, "path", { d: path, fill: "none", stroke: colour, "stroke-width": 1 });
    return svgNode(this.svg, "text", { x: this.right + 8, y: base - 4 }, "");
  }

  listen(bottom) {
    const surface = svgNode(this.svg, "rect", {
      x: this.left, y: 0, width: this.right - this.left, height: bottom, class: "surface",
    });
    let start = null;
    const place = (event) => Math.min(Math.max(this.place(event), this.left), this.right);
    surface.onpointerdown = (event) => {
      start = place(event);
      surface.setPointerCapture(event.pointerId);
    };
    surface.onpointermove = (event) => {
      const x = place(event);
      this.read(x);
      if (start === null) return;
      this.brush.setAttribute("x", Math.min(start, x));
      this.brush.setAttribute("width", Math.abs(x - start));
    };
    surface.onpointerup = (event) => {
      const x = place(event);
      const from = start;
      start = null;
      this.brush.setAttribute("width", 0);
      if (from !== null && Math.abs(x - from) > 5) {
        this.zoom([this.t(Math.min(from, x)), this.t(Math.max(from, x))]);
      }
    };
    surface.ondblclick = () => this.zoom(this.full);
    surface.onpointerleave = () => this.leave();
  }

  // Arrows move the place that is read, + and - zoom around it, Escape shows the whole time.
  key(event) {
    const step = (this.right - this.left) / 50;
    const at = this.at === undefined ? (this.left + this.right) / 2 : this.at;
    const moves = { ArrowLeft: -step, ArrowRight: step, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.read(Math.min(Math.max(at + moves[event.key], this.left), this.right), true);
    else if (event.key === "+" || event.key === "-") this.magnify(event.key === "+" ? 0.5 : 2, this.t(at));
    else if (event.key === "Escape") this.zoom(this.full);
    else return;
    event.preventDefault();
  }

  magnify(factor, middle) {
    const half = (factor * (this.range[1] - this.range[0])) / 2;
    const low = Math.max(this.full[0], middle - half);
    const high = Math.min(this.full[1], middle + half);
    this.zoom(low <= this.full[0] && high >= this.full[1] ? this.full : [low, high]);
  }

  // Values at a place; in words too where a reader of the screen follows.
  read(x, aloud = false) {
    const t = this.t(x);
    this.at = x;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", "visible");
    // Before its first sample nothing is known of a series, and nothing after the end of its transfer.
    const last = (strip) => (strip.t.at(-1) < this.full[1] ? strip.t.at(-1) : Infinity);
    const values = this.data.strips.map((strip) => {
      const isKnown = strip.t[0] <= t && t <= last(strip);
      return isKnown ? shown(strip.v[before(strip.t, t)]) : "-";
    });
    values.forEach((value, index) => { this.values[index].textContent = value; });
    const every = aloud ? `: ${this.data.strips.map((strip, index) => `${strip.name} ${values[index]}`).join(", ")}` : "";
    const moment = rounded(t, 3 - Math.floor(Math.log10(this.range[1] - this.range[0])));
    this.readout.textContent = `t = ${moment} ${this.data.time_unit}; values in ${this.data.unit}${every}`;
  }

  leave() {
    this.cursor.setAttribute("visibility", "hidden");
    for (const value of this.values) value.textContent = "";
  }

  zoom(range) {
    this.range = range;
    this.reset.hidden = range === this.full;
    this.draw();
  }
}
