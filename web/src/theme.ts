/** Colours: those of the page, from its style sheet, and those of flows. */

export interface Theme {
  paper: string;
  raised: string;
  ink: string;
  muted: string;
  faint: string;
  line: string;
  accent: string;
  dark: boolean;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: get("paper"), raised: get("raised"), ink: get("ink"), muted: get("muted"), faint: get("faint"),
    line: get("line"), accent: get("accent"), dark: get("dark") === "1",
  };
}

/** Distinct for people with any kind of colour vision: five of Okabe and Ito's and three that are as far from them as those are from each
 * other. Vermilion is left for what is lost, grey for cells that manage rates. */
const FLOWS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#6f42d8", "#8a5a3c", "#c3b469"];
/** Blue on a dark page: as far from the others, and brighter than the page. */
const DARK_BLUE = "#2a78c8";

/** The colour of a flow. Beyond eight they come again, lighter and darker: names and focus tell such flows apart. */
export function colourOf(flow: number, theme: Theme): string {
  const base = FLOWS[flow % FLOWS.length];
  const round = Math.floor(flow / FLOWS.length) % 3;
  if (round === 0) return theme.dark && base === FLOWS[0] ? DARK_BLUE : base;
  return mix(base, round === 1 ? "#ffffff" : "#000000", 0.35);
}

export function mix(colour: string, other: string, share: number): string {
  const part = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16);
  const channel = (at: number) => Math.round(part(colour, at) * (1 - share) + part(other, at) * share);
  return `#${[1, 3, 5].map((at) => channel(at).toString(16).padStart(2, "0")).join("")}`;
}

/** A colour of six digits, as a pixel has it in memory. */
export function pixelOf(colour: string): number {
  const part = (at: number) => parseInt(colour.slice(at, at + 2), 16);
  return new Uint32Array(Uint8Array.of(part(1), part(3), part(5), 255).buffer)[0];
}

export function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
