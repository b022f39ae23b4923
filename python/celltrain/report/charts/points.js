// Means with intervals over categories; the legend's buttons hide and show series. Categories stand side by side, or one below the
// other where their names would not fit.
class Points extends Chart {
  static groups = {};

  constructor(figure, data) {
    super(figure, data);
    // Panels of one picture have one legend, above the first of them, which hides and shows a series in all.
    this.panels = [];
    if (data.group) this.panels = Points.groups[data.group] = Points.groups[data.group] || [];
    this.panels.push(this);
    const isFirst = this.panels[0] === this;
    this.hidden = this.panels[0].hidden || new Set();
    if (data.group && isFirst) figure.prepend(this.bar);
    this.svg.setAttribute("role", "group");
    this.svg.onkeydown = (event) => this.key(event);
    if (data.series.length > 1 && isFirst) this.bar.setAttribute("aria-label", "Series: choose one to hide or show it");
    // What the axis says already needs no button: there is nothing else to see.
    const isTold = data.series.length === 1 && data.ylabel.includes(data.series[0].name);
    if (!isTold && isFirst) data.series.forEach((series, index) => this.button(series, index));
    // Once is enough: other charts of the page are read alike.
    if (!Points.isTold) this.readout.textContent = "Point at a mark, or use Tab and the arrow keys, to read it.";
    Points.isTold = true;
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
      this.names = told(categories, most).map((name) => [name]);
      this.left = Math.min(longest, most) * LETTER + 14;
      this.right = this.width - 16;
      this.row = Math.max(21, 11 * this.slots());
      this.label = fitted(this.data.ylabel, this.width - 16);
      this.height = this.row * categories.length + 52 + (this.label.length - 1) * LINE;
      return;
    }
    this.thin = form === "curves" ? Math.ceil((widest + 8) / step) : 1;
    this.label = fitted(this.data.ylabel, 240);
    this.below = fitted(this.data.xlabel, this.width - 16);
    const beside = 30 + (this.label.length - 1) * LINE;
    this.left = beside + LETTER * Math.max(...ticks(...this.span(), 6).map(([, label]) => label.length));
    this.right = this.width - 12;
    this.more = this.thin > 1 ? 0 : (lines - 1) * LINE;
    this.height = 302 + this.more + (this.below.length - 1) * LINE;
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
      for (const panel of this.panels) panel.draw();
    };
  }

  // The ends of an interval, no further than what is possible.
  ends([mean, half]) {
    const [least, most] = this.data.bounds || [null, null];
    const low = mean - (half || 0);
    const high = mean + (half || 0);
    // A mean beyond a limit shows that it is none.
    return [
      least === null || mean < least ? low : Math.max(low, least),
      most === null || mean > most ? high : Math.min(high, most),
    ];
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
      const x = this.inside(this.middle(index), Math.max(...lines.map((line) => line.length)));
      this.lines(this.svg, lines, { x, y: bottom + 18, "text-anchor": "middle" });
    });
    const letters = Math.max(...this.below.map((line) => line.length));
    const x = this.inside((this.left + this.right) / 2, letters);
    this.lines(this.svg, this.below, { x, y: bottom + 40 + this.more, "text-anchor": "middle" });
    const label = { x: 13, y: (top + bottom) / 2, "text-anchor": "middle" };
    label.transform = `rotate(-90 ${label.x} ${label.y})`;
    this.lines(this.svg, this.label, label);
  }

  drawRows(low, high) {
    const [top, bottom] = [4, this.height - 44 - (this.label.length - 1) * LINE];
    this.value = (value) => this.left + ((value - low) / (high - low)) * (this.right - this.left);
    for (const [value, label] of ticks(low, high, Math.max(2, Math.min(8, (this.right - this.left) / 70)))) {
      const x = this.value(value);
      svgNode(this.svg, "line", { x1: x, x2: x, y1: top, y2: bottom, class: "axis" });
      this.tick(x, bottom + 16, label);
    }
    this.step = this.row;
    this.middle = (place) => top + this.row * (place + 0.5);
    this.names.forEach(([name], index) => {
      svgNode(this.svg, "text", { x: this.left - 8, y: this.middle(index) + 4, "text-anchor": "end" }, name);
    });
    this.lines(this.svg, this.label, { x: this.right, y: bottom + 36, "text-anchor": "end" });
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
    const filled = !series.hollow && !(series.open && series.open[place]);
    const circle = { ...this.at(along, this.value(mean), ["cx", "cy"]), r: 5 };
    const square = { ...this.at(along - 4.5, this.value(mean) - 4.5), width: 9, height: 9 };
    const mark = svgNode(this.svg, bar || second ? "rect" : "circle", {
      ...(bar ? this.column(along, mean) : second ? square : circle),
      stroke: colour, "stroke-width": bar && !second ? 1 : 2, fill: filled ? colour : "var(--paper)",
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
