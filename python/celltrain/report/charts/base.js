// What all charts of a report have in common. The page joins the files of this folder to one script.
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
// Decimals of a number, at most; smaller ones have an exponent.
const PLACES = 9;
const rounded = (value, digits) => {
  if (value && digits > PLACES) return value.toExponential(Math.max(0, digits + Math.floor(Math.log10(Math.abs(value)))));
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(Math.max(0, digits), PLACES) });
};

// Round numbers that divide [low, high] into about `count` parts, and each with as many digits as tell them apart.
const ticks = (low, high, count) => {
  const raw = (high - low) / count;
  if (!(raw > 0)) return [[low, shown(low)]];
  const power = 10 ** Math.floor(Math.log10(raw));
  const ends = (step) => [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  // One number says nothing of a scale: two or more.
  const steps = [10, 5, 2, 1, 0.5, 0.2].map((factor) => factor * power);
  const usual = steps.findLastIndex((one) => one >= raw);
  const step = steps.slice(usual).find((one) => ends(one)[1] > ends(one)[0]) || steps[usual];
  const [first, last] = ends(step);
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

// `name` with at most so many letters: its middle is left out, for names of ports differ at their ends.
const shortened = (name, most) => {
  if (name.length <= most) return name;
  const kept = Math.max(2, Math.floor(most) - 1);
  return `${name.slice(0, Math.ceil(kept / 2)).trimEnd()}…${name.slice(-Math.floor(kept / 2)).trimStart()}`;
};

// Names with at most so many letters each, told apart where their ends are the same: by the letters around the first
// one in which a name differs from the one that it is most like.
const told = (names, most) => {
  const ends = names.map((name) => shortened(name, most));
  return names.map((name, index) => {
    const same = names.filter((other, place) => other !== name && ends[place] === ends[index]);
    return same.length ? around(name, Math.max(...same.map((other) => alike(name, other))), most) : ends[index];
  });
};
// How many letters two names have in common from their beginning.
const alike = (name, other) => {
  let count = 0;
  while (count < name.length && name[count] === other[count]) count += 1;
  return count;
};
const around = (name, place, most) => {
  const kept = Math.max(1, Math.floor(most) - 2);
  const begin = Math.max(0, Math.min(place - Math.floor(kept / 2), name.length - kept));
  return `…${name.slice(begin, begin + kept)}${begin + kept < name.length ? "…" : ""}`;
};

// `text` in as few lines as fit into `width`, about as long as each other; a word that does not fit is cut.
const fitted = (text, width) => {
  const most = Math.max(1, Math.floor(width / LETTER));
  const count = wrapped(text, most).length;
  let least = most;
  while (least > 1 && wrapped(text, least - 1).length === count) least -= 1;
  return wrapped(text, least).map((line) => shortened(line, most));
};

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

  // The middle of a text of so many letters near `x` that does not reach beyond the chart's ends.
  inside(x, letters) {
    const half = (letters * LETTER) / 2;
    return Math.min(Math.max(x, half), this.width - half);
  }

  // Lines of text, one below the other.
  lines(parent, lines, attributes) {
    const text = svgNode(parent, "text", attributes);
    lines.forEach((line, place) => svgNode(text, "tspan", { x: attributes.x, dy: place ? LINE : 0 }, line));
    return text;
  }

  // The number of a tick below the chart.
  tick(x, y, label) {
    svgNode(this.svg, "text", { x: this.inside(x, label.length), y, "text-anchor": "middle" }, label);
  }

  // Where a pointer is, in the chart's own units.
  place(event) {
    const box = this.svg.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * this.width;
  }
}
