// Draws the charts of a report into its <figure class="chart"> elements. No library, no request.
"use strict";
(() => {
  // What a chart is drawn for where its width is not known, as in a folded part of the page.
  const [USUAL, LEAST] = [960, 280];
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#888888"];

  const svgNode = (parent, name, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };
  const htmlNode = (parent, name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };
  // A number to about four digits.
  const shown = (value) => {
    if (value === 0) return "0";
    return rounded(value, 3 - Math.floor(Math.log10(Math.abs(value))));
  };
  const rounded = (value, digits) =>
    value.toLocaleString("en", { maximumFractionDigits: Math.min(Math.max(0, digits), 9) });

  // Round numbers that divide [low, high] into about `count` parts, and each with as many digits as tell them apart.
  const ticks = (low, high, count) => {
    const raw = (high - low) / count;
    if (!(raw > 0)) return [[low, shown(low)]];
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    const digits = -Math.floor(Math.log10(step) + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, index) => {
      const value = (first + index) * step;
      return [value, rounded(value, digits)];
    });
  };

  // The index of the last time that is not after `t`.
  const before = (times, t) => {
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  // The words of `name` in lines of at most `most` letters, or of one word.
  const wrapped = (name, most) => name.split(" ").reduce((lines, word) => {
    const longer = `${lines.at(-1)} ${word}`.trim();
    return longer.length <= most || !lines.at(-1) ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, [""]);

  // `name` with at most so many letters.
  const shortened = (name, most) => (name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name);

  // The room of a letter and of a line of text.
  const [LETTER, LINE] = [6.7, 15];

  // A chart is as wide as its place on the page, so that its text has the size of other text, and is drawn anew when that changes.
  class Chart {
    constructor(figure, data) {
      this.figure = figure;
      this.data = data;
      this.bar = htmlNode(figure, "div", "legend");
      this.svg = svgNode(figure, "svg", { "aria-label": data.label });
      this.readout = htmlNode(figure, "div", "readout");
      this.readout.setAttribute("aria-live", "polite");
    }

    start() {
      this.fit();
      new ResizeObserver(() => {
        if (this.figure.clientWidth && this.figure.clientWidth !== this.width) this.fit();
      }).observe(this.figure);
    }

    fit() {
      this.width = Math.max(this.figure.clientWidth || USUAL, LEAST);
      this.layout();
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      this.draw();
    }

    // Where a pointer is, in the chart's own units.
    place(event) {
      const box = this.svg.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * this.width;
    }
  }

  // Time series one above the other over the same time: drag to zoom, point or use the arrow keys to read.
  class Strips extends Chart {
    constructor(figure, data) {
      super(figure, data);
      this.full = [data.from, data.to];
      this.range = this.full;
      this.height = data.strips.reduce((sum, strip) => sum + strip.height + 4, 30);
      this.svg.setAttribute("role", "img");
      this.svg.setAttribute("tabindex", 0);
      this.svg.onkeydown = (event) => this.key(event);
      for (const [group, colour] of this.groups()) {
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
      const longest = Math.max(...this.data.strips.map((strip) => strip.name.length));
      this.left = Math.min(longest * LETTER + 14, 0.28 * this.width);
      this.right = this.width - 62;
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
        svgNode(this.svg, "text", { x: this.x(t), y: bottom + 15, "text-anchor": "middle" }, label);
      }
      svgNode(this.svg, "text", { x: this.right + 8, y: bottom + 15 }, this.data.xlabel);
      let top = 0;
      this.values = this.data.strips.map((strip) => {
        const value = this.strip(strip, top, colours.get(strip.group) || COLOURS[6]);
        top += strip.height + 4;
        return value;
      });
      this.cursor = svgNode(this.svg, "line", { y1: 0, y2: bottom, class: "cursor", visibility: "hidden" });
      this.brush = svgNode(this.svg, "rect", { y: 0, height: bottom, width: 0, class: "brush" });
      this.listen(bottom);
    }

    strip(strip, top, colour) {
      const base = top + strip.height;
      const y = (value) => base - (value / strip.max) * strip.height;
      svgNode(this.svg, "line", { x1: this.left, x2: this.right, y1: base, y2: base, class: "axis" });
      const name = shortened(strip.name, (this.left - 10) / LETTER);
      svgNode(this.svg, "text", { x: this.left - 8, y: base - 4, "text-anchor": "end" }, name);
      const first = before(strip.t, this.range[0]);
      const last = Math.min(before(strip.t, this.range[1]) + 1, strip.t.length - 1);
      let path = "";
      for (let index = first; index <= last; index += 1) {
        const x = Math.min(Math.max(this.x(strip.t[index]), this.left), this.right);
        path += `${path ? "L" : "M"}${x.toFixed(1)} ${y(strip.v[index]).toFixed(1)}`;
      }
      svgNode(this.svg, "path", { d: `${path}V${base}H${this.left}Z`, fill: colour, "fill-opacity": 0.25 });
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
      const values = this.data.strips.map((strip) => shown(strip.v[before(strip.t, t)]));
      values.forEach((value, index) => { this.values[index].textContent = value; });
      const every = aloud ? `: ${this.data.strips.map((strip, index) => `${strip.name} ${values[index]}`).join(", ")}` : "";
      this.readout.textContent = `t = ${t.toFixed(4)} s; values in ${this.data.unit}${every}`;
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

  // Means with intervals over categories; the legend's buttons hide and show series. Categories stand side by side, or one below the
  // other where their names would not fit.
  class Points extends Chart {
    constructor(figure, data) {
      super(figure, data);
      this.hidden = new Set();
      this.svg.setAttribute("role", "group");
      this.svg.onkeydown = (event) => this.key(event);
      if (data.series.length > 1) this.bar.setAttribute("aria-label", "Series: choose one to hide or show it");
      data.series.forEach((series, index) => this.button(series, index));
      this.readout.textContent = "Point at a mark, or use Tab and the arrow keys, to read it.";
      this.start();
    }

    layout() {
      const { categories, form } = this.data;
      const longest = Math.max(...categories.map((name) => name.length));
      const step = (this.width - 90) / categories.length;
      this.names = categories.map((name) => wrapped(name, step / LETTER));
      const lines = Math.max(...this.names.map((one) => one.length));
      const widest = Math.max(...this.names.flat().map((line) => line.length)) * LETTER;
      this.across = form !== "curves" && (this.data.form === "rows" || widest > step + 2 || lines > 4);
      if (this.across) {
        const most = Math.max(6, (0.36 * this.width) / LETTER);
        this.names = categories.map((name) => [shortened(name, most)]);
        this.left = Math.min(longest, most) * LETTER + 14;
        this.right = this.width - 16;
        this.row = Math.max(21, 11 * this.slots());
        this.height = this.row * categories.length + 52;
        return;
      }
      this.thin = form === "curves" ? Math.ceil((widest + 8) / step) : 1;
      this.left = 30 + LETTER * Math.max(...ticks(...this.span(), 6).map(([, label]) => label.length));
      this.right = this.width - 12;
      this.more = this.thin > 1 ? 0 : (lines - 1) * LINE;
      this.height = 302 + this.more;
    }

    slots() {
      return this.data.slots || this.data.series.length;
    }

    // What is published of a curve or bar has its colour and place.
    slot(series, index) {
      return series.slot === undefined ? index : series.slot;
    }

    // Among marks beside one another what is published is grey, and the others have one colour with it and without it.
    look(series, index) {
      if (series.slot !== undefined) return series.slot;
      return this.data.series.slice(0, index).filter((one) => !one.hollow).length;
    }

    colour(series, index) {
      if (series.slot === undefined && series.hollow) return "var(--faint)";
      return COLOURS[this.look(series, index) % COLOURS.length];
    }

    // A series that has a colour of an earlier one is told from it by its shape: square, or for bars pale.
    isSecond(series, index) {
      return Math.floor(this.look(series, index) / COLOURS.length) % 2 === 1;
    }

    button(series, index) {
      const button = htmlNode(this.bar, "button", "", series.name);
      const swatch = htmlNode(button, "span", "swatch");
      const second = this.isSecond(series, index);
      swatch.style.borderColor = this.colour(series, index);
      if (!series.hollow && !(second && this.data.form === "bars")) swatch.style.background = this.colour(series, index);
      if (second) swatch.style.borderRadius = "0";
      button.prepend(swatch);
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.onclick = () => {
        if (!this.hidden.delete(index)) this.hidden.add(index);
        button.setAttribute("aria-pressed", String(!this.hidden.has(index)));
        this.draw();
      };
    }

    // The ends of an interval, no further than what is possible.
    ends([mean, half]) {
      const [least, most] = this.data.bounds || [null, null];
      const low = mean - (half || 0);
      const high = mean + (half || 0);
      return [least === null ? low : Math.max(low, Math.min(mean, least)), most === null ? high : Math.min(high, Math.max(mean, most))];
    }

    span() {
      if (this.data.range) return this.data.range;
      const ends = this.data.series
        .filter((_, index) => !this.hidden.has(index))
        .flatMap((series) => series.points.filter(Boolean))
        .flatMap((point) => this.ends(point));
      if (!ends.length) return [0, 1];
      const bars = this.data.form === "bars";
      const low = Math.min(...ends, ...(bars ? [0] : []));
      const high = Math.max(...ends, ...(bars ? [0] : []));
      const margin = (high - low || Math.abs(high) || 1) * 0.08;
      const floor = this.data.bounds && this.data.bounds[0] === 0 && low >= 0;
      return [(bars && low === 0) || (floor && low < margin) ? Math.min(low, 0) : low - margin, high + margin];
    }

    draw() {
      this.svg.replaceChildren();
      const [low, high] = this.span();
      if (this.across) this.drawRows(low, high);
      else this.drawColumns(low, high);
      this.data.series.forEach((series, index) => {
        if (!this.hidden.has(index)) this.series(series, index);
      });
      const first = this.svg.querySelector(".mark");
      if (first) first.setAttribute("tabindex", 0);
    }

    drawColumns(low, high) {
      const [top, bottom] = [10, 250];
      this.value = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
      for (const [value, label] of ticks(low, high, 6)) {
        const y = this.value(value);
        svgNode(this.svg, "line", { x1: this.left, x2: this.right, y1: y, y2: y, class: "axis" });
        svgNode(this.svg, "text", { x: this.left - 6, y: y + 4, "text-anchor": "end" }, label);
      }
      this.step = (this.right - this.left) / this.data.categories.length;
      this.middle = (place) => this.left + this.step * (place + 0.5);
      this.names.forEach((lines, index) => {
        if (index % this.thin) return;
        const x = this.middle(index);
        const name = svgNode(this.svg, "text", { y: bottom + 18, "text-anchor": "middle" });
        lines.forEach((line, place) => svgNode(name, "tspan", { x, dy: place ? LINE : 0 }, line));
      });
      const below = { x: (this.left + this.right) / 2, y: bottom + 40 + this.more, "text-anchor": "middle" };
      svgNode(this.svg, "text", below, this.data.xlabel);
      const label = { x: 13, y: (top + bottom) / 2, "text-anchor": "middle" };
      label.transform = `rotate(-90 ${label.x} ${label.y})`;
      svgNode(this.svg, "text", label, shortened(this.data.ylabel, (bottom - top) / LETTER));
    }

    drawRows(low, high) {
      const [top, bottom] = [4, this.height - 44];
      this.value = (value) => this.left + ((value - low) / (high - low)) * (this.right - this.left);
      for (const [value, label] of ticks(low, high, Math.max(2, Math.min(8, (this.right - this.left) / 70)))) {
        const x = this.value(value);
        svgNode(this.svg, "line", { x1: x, x2: x, y1: top, y2: bottom, class: "axis" });
        svgNode(this.svg, "text", { x, y: bottom + 16, "text-anchor": "middle" }, label);
      }
      this.step = this.row;
      this.middle = (place) => top + this.row * (place + 0.5);
      this.names.forEach(([name], index) => {
        svgNode(this.svg, "text", { x: this.left - 8, y: this.middle(index) + 4, "text-anchor": "end" }, name);
      });
      const below = { x: this.right, y: bottom + 36, "text-anchor": "end" };
      svgNode(this.svg, "text", below, shortened(this.data.ylabel, this.width / LETTER));
    }

    // A place along the categories and one along the values, as attributes of an element.
    at(along, value, names = ["x", "y"]) {
      const [first, second] = this.across ? [value, along] : [along, value];
      return { [names[0]]: first, [names[1]]: second };
    }

    // Curves share their places; marks and bars of one category stand beside one another.
    series(series, index) {
      const count = this.slots();
      const curves = this.data.form === "curves";
      const shift = curves ? 0 : (0.6 * this.step * (this.slot(series, index) - (count - 1) / 2)) / Math.max(count, 2);
      const colour = this.colour(series, index);
      if (curves && !series.hollow) this.curve(series, colour);
      series.points.forEach((point, place) => {
        if (!point) return;
        const along = this.middle(place) + shift;
        const [low, high] = this.ends(point).map((end) => this.value(end));
        if (point[1]) {
          const ends = { ...this.at(along, low, ["x1", "y1"]), ...this.at(along, high, ["x2", "y2"]) };
          svgNode(this.svg, "line", { ...ends, stroke: colour, "stroke-width": 1.5 });
        }
        this.mark(series, colour, place, along, this.isSecond(series, index));
      });
    }

    curve(series, colour) {
      const path = series.points.map(
        (point, place) => point && `${this.middle(place).toFixed(1)} ${this.value(point[0]).toFixed(1)}`,
      );
      const d = path.map((at, place) => at && `${path[place - 1] ? "L" : "M"}${at}`).filter(Boolean).join("");
      svgNode(this.svg, "path", { d, fill: "none", stroke: colour, "stroke-width": 1.5 });
    }

    mark(series, colour, place, along, second) {
      const [mean, half] = series.points[place];
      const bar = this.data.form === "bars" && !series.hollow;
      const full = !series.hollow && !(series.open && series.open[place]);
      const circle = { ...this.at(along, this.value(mean), ["cx", "cy"]), r: 5 };
      const square = { ...this.at(along - 4.5, this.value(mean) - 4.5), width: 9, height: 9 };
      const mark = svgNode(this.svg, bar || second ? "rect" : "circle", {
        ...(bar ? this.column(along, mean) : second ? square : circle),
        stroke: colour, "stroke-width": bar && !second ? 1 : 2, fill: full ? colour : "var(--paper)",
        "fill-opacity": bar ? (second ? 0.15 : 0.6) : 1,
        "pointer-events": "all", class: "mark", tabindex: -1, role: "img",
      });
      const spread = half ? ` ± ${shown(half)}` : "";
      const said = `${series.name}, ${this.data.categories[place]}: ${shown(mean)}${spread} ${this.data.unit}`;
      mark.setAttribute("aria-label", said);
      svgNode(mark, "title", {}, said);
      mark.onpointerenter = mark.onfocus = () => {
        this.readout.textContent = said;
      };
    }

    column(along, mean) {
      const width = (0.6 * this.step) / Math.max(this.slots(), 2);
      const [from, to] = [this.value(0), this.value(mean)];
      const size = this.at(width, Math.abs(from - to), ["width", "height"]);
      return { ...this.at(along - width / 2, Math.min(from, to)), ...size };
    }

    // Arrows go from mark to mark, so that a chart is one stop of the Tab key.
    key(event) {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      const marks = [...this.svg.querySelectorAll(".mark")];
      const next = marks[marks.indexOf(document.activeElement) + step];
      if (!step || !next) return;
      document.activeElement.setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      next.focus();
      event.preventDefault();
    }
  }

  const kinds = { strips: Strips, points: Points };
  for (const figure of document.querySelectorAll("figure.chart")) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    figure.chart = new kinds[data.kind](figure, data);
    figure.appendChild(figure.querySelector("figcaption"));
  }

  // Copies the text behind a button; where that is not allowed the text is selected, to be copied by hand.
  for (const button of document.querySelectorAll("button.copy")) {
    button.onclick = async () => {
      const code = button.nextElementSibling;
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
      }
    };
  }

  // Paper cannot be opened: what is folded is printed too, and folded again afterwards.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
  // A link into a folded part opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (target) target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();
})();
