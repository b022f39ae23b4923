// Draws the charts of a report into its <figure class="chart"> elements. No library, no request.
"use strict";
(() => {
  const WIDTH = 960;
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
  const shown = (value) => {
    if (value === 0) return "0";
    const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
    return value.toLocaleString("en", { maximumFractionDigits: Math.min(digits, 9) });
  };

  // Round numbers that divide [low, high] into about `count` parts.
  const ticks = (low, high, count) => {
    const raw = (high - low) / count;
    if (!(raw > 0)) return [low];
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
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

  // Time series one above the other over the same time: drag to zoom, point to read.
  class Strips {
    constructor(figure, data) {
      this.data = data;
      this.left = 130;
      this.right = WIDTH - 90;
      this.full = [data.from, data.to];
      this.range = this.full;
      this.height = data.strips.reduce((sum, strip) => sum + strip.height + 4, 30);
      const bar = htmlNode(figure, "div", "legend");
      for (const [group, colour] of this.groups()) {
        const item = htmlNode(bar, "span", "", group);
        const swatch = htmlNode(item, "span", "swatch");
        swatch.style.borderColor = swatch.style.background = colour;
        item.prepend(swatch);
      }
      this.reset = htmlNode(bar, "button", "", "whole time");
      this.reset.type = "button";
      this.reset.hidden = true;
      this.reset.onclick = () => this.zoom(this.full);
      this.svg = svgNode(figure, "svg", {
        viewBox: `0 0 ${WIDTH} ${this.height}`, role: "img", "aria-label": data.label,
      });
      this.readout = htmlNode(figure, "div", "readout", "Point at the chart to read values, drag to zoom.");
      this.draw();
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
      for (const t of ticks(...this.range, 8)) {
        svgNode(this.svg, "line", { x1: this.x(t), x2: this.x(t), y1: 0, y2: bottom, class: "axis" });
        svgNode(this.svg, "text", { x: this.x(t), y: bottom + 15, "text-anchor": "middle" }, shown(t));
      }
      svgNode(this.svg, "text", { x: this.right + 10, y: bottom + 15 }, this.data.xlabel);
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
      svgNode(this.svg, "text", { x: this.left - 8, y: base - 4, "text-anchor": "end" }, strip.name);
      const first = before(strip.t, this.range[0]);
      const last = Math.min(before(strip.t, this.range[1]) + 1, strip.t.length - 1);
      let path = "";
      for (let index = first; index <= last; index += 1) {
        const x = Math.min(Math.max(this.x(strip.t[index]), this.left), this.right);
        path += `${path ? "L" : "M"}${x.toFixed(1)} ${y(strip.v[index]).toFixed(1)}`;
      }
      svgNode(this.svg, "path", { d: `${path}V${base}H${this.left}Z`, fill: colour, "fill-opacity": 0.25 });
      svgNode(this.svg, "path", { d: path, fill: "none", stroke: colour, "stroke-width": 1 });
      return svgNode(this.svg, "text", { x: this.right + 10, y: base - 4 }, "");
    }

    listen(bottom) {
      const surface = svgNode(this.svg, "rect", {
        x: this.left, y: 0, width: this.right - this.left, height: bottom, class: "surface",
      });
      let start = null;
      const place = (event) => {
        const box = this.svg.getBoundingClientRect();
        const x = ((event.clientX - box.left) / box.width) * WIDTH;
        return Math.min(Math.max(x, this.left), this.right);
      };
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

    read(x) {
      const t = this.t(x);
      this.cursor.setAttribute("x1", x);
      this.cursor.setAttribute("x2", x);
      this.cursor.setAttribute("visibility", "visible");
      this.data.strips.forEach((strip, index) => {
        this.values[index].textContent = shown(strip.v[before(strip.t, t)]);
      });
      this.readout.textContent = `t = ${t.toFixed(4)} s; values in ${this.data.unit}`;
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

  // The sides of a chart of points, and the room of a letter and of a line of its categories' names.
  const [LEFT, RIGHT, LETTER, LINE] = [90, WIDTH - 20, 7, 14];

  // Means with intervals over categories; the legend's buttons hide and show series.
  class Points {
    constructor(figure, data) {
      this.data = data;
      this.hidden = new Set();
      const bar = htmlNode(figure, "div", "legend");
      data.series.forEach((series, index) => this.button(bar, series, index));
      this.step = (RIGHT - LEFT) / data.categories.length;
      this.names = data.categories.map((name) => wrapped(name, this.step / LETTER));
      this.more = (Math.max(...this.names.map((lines) => lines.length)) - 1) * LINE;
      this.svg = svgNode(figure, "svg", {
        viewBox: `0 0 ${WIDTH} ${300 + this.more}`, role: "img", "aria-label": data.label,
      });
      this.readout = htmlNode(figure, "div", "readout", "Point at a mark to read it.");
      this.draw();
    }

    // What is published of a curve or bar has its colour and place.
    slot(series, index) {
      return series.slot === undefined ? index : series.slot;
    }

    colour(series, index) {
      return COLOURS[this.slot(series, index) % COLOURS.length];
    }

    button(bar, series, index) {
      const button = htmlNode(bar, "button", "", series.name);
      const swatch = htmlNode(button, "span", "swatch");
      swatch.style.borderColor = this.colour(series, index);
      if (!series.hollow) swatch.style.background = this.colour(series, index);
      button.prepend(swatch);
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.onclick = () => {
        if (!this.hidden.delete(index)) this.hidden.add(index);
        button.setAttribute("aria-pressed", String(!this.hidden.has(index)));
        this.draw();
      };
    }

    span() {
      const ends = this.data.series
        .filter((_, index) => !this.hidden.has(index))
        .flatMap((series) => series.points.filter(Boolean))
        .flatMap(([mean, half]) => [mean - (half || 0), mean + (half || 0)]);
      if (!ends.length) return [0, 1];
      const bars = this.data.form === "bars";
      const low = Math.min(...ends, ...(bars ? [0] : []));
      const high = Math.max(...ends, ...(bars ? [0] : []));
      const margin = (high - low || Math.abs(high) || 1) * 0.08;
      return [bars && low === 0 ? 0 : low - margin, high + margin];
    }

    draw() {
      this.svg.replaceChildren();
      const [left, right, top, bottom] = [LEFT, RIGHT, 10, 250];
      const [low, high] = this.span();
      const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
      for (const value of ticks(low, high, 6)) {
        svgNode(this.svg, "line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "axis" });
        svgNode(this.svg, "text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, shown(value));
      }
      const { step } = this;
      this.names.forEach((lines, index) => {
        const x = left + step * (index + 0.5);
        const name = svgNode(this.svg, "text", { y: bottom + 18, "text-anchor": "middle" });
        lines.forEach((line, place) => svgNode(name, "tspan", { x, dy: place ? LINE : 0 }, line));
      });
      const below = { x: (left + right) / 2, y: bottom + 40 + this.more, "text-anchor": "middle" };
      svgNode(this.svg, "text", below, this.data.xlabel);
      const label = { x: 14, y: (top + bottom) / 2, "text-anchor": "middle" };
      label.transform = `rotate(-90 ${label.x} ${label.y})`;
      svgNode(this.svg, "text", label, this.data.ylabel);
      this.data.series.forEach((series, index) => {
        if (!this.hidden.has(index)) this.series(series, index, y, (place) => left + step * (place + 0.5), step);
      });
    }

    // Curves share their places; marks and bars of one category stand beside one another.
    series(series, index, y, x, step) {
      const count = this.data.slots || this.data.series.length;
      const curves = this.data.form === "curves";
      const shift = curves ? 0 : (0.6 * step * (this.slot(series, index) - (count - 1) / 2)) / Math.max(count, 2);
      const width = (0.6 * step) / Math.max(count, 2);
      const colour = this.colour(series, index);
      if (curves && !series.hollow) {
        const path = series.points.map((point, place) => point && `${x(place).toFixed(1)} ${y(point[0]).toFixed(1)}`);
        const d = path.map((at, place) => at && `${path[place - 1] ? "L" : "M"}${at}`).filter(Boolean).join("");
        svgNode(this.svg, "path", { d, fill: "none", stroke: colour, "stroke-width": 1.5 });
      }
      series.points.forEach((point, place) => {
        if (!point) return;
        const [mean, half] = point;
        const at = x(place) + shift;
        if (half) {
          const ends = { x1: at, x2: at, y1: y(mean - half), y2: y(mean + half) };
          svgNode(this.svg, "line", { ...ends, stroke: colour, "stroke-width": 1.5 });
        }
        const bar = this.data.form === "bars" && !series.hollow;
        const shape = bar
          ? { x: at - width / 2, y: Math.min(y(mean), y(0)), width, height: Math.abs(y(0) - y(mean)) }
          : { cx: at, cy: y(mean), r: 5 };
        const mark = svgNode(this.svg, bar ? "rect" : "circle", {
          ...shape, stroke: colour, "stroke-width": bar ? 1 : 2, fill: series.hollow ? "none" : colour,
          "fill-opacity": bar ? 0.6 : 1, "pointer-events": "all", class: "mark", tabindex: 0,
        });
        const spread = half ? ` ± ${shown(half)}` : "";
        const said = `${series.name}, ${this.data.categories[place]}: ${shown(mean)}${spread} ${this.data.unit}`;
        svgNode(mark, "title", {}, said);
        mark.onpointerenter = mark.onfocus = () => {
          this.readout.textContent = said;
        };
      });
    }
  }

  const kinds = { strips: Strips, points: Points };
  for (const figure of document.querySelectorAll("figure.chart")) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    figure.chart = new kinds[data.kind](figure, data);
    figure.appendChild(figure.querySelector("figcaption"));
  }
})();
