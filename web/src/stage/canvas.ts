/** The size of the page's text, in pixels, at which a pixel of a picture is one of the page. */
const USUAL_TEXT = 15;

/** A canvas that fills its element at the screen's own resolution. Who has chosen larger text has larger pictures: one of their pixels is
 * several of the page then. */
export class Surface {
  readonly context: CanvasRenderingContext2D;
  /** In pixels of the picture. */
  width = 0;
  height = 0;
  /** Pixels of the page in one of the picture. */
  zoom = 1;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly resized: () => void,
  ) {
    this.context = canvas.getContext("2d")!;
    new ResizeObserver(() => this.fit()).observe(canvas);
    this.fit();
  }

  /** Empties it; drawing is in pixels of the picture. */
  begin(): CanvasRenderingContext2D {
    const scale = (devicePixelRatio || 1) * this.zoom;
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    return this.context;
  }

  /** A place on the page's element as one of the picture. */
  at(x: number, y: number): [number, number] {
    return [x / this.zoom, y / this.zoom];
  }

  /** Takes the size of its element, and the resolution of the screen. */
  fit(): void {
    const { clientWidth, clientHeight } = this.canvas;
    const scale = devicePixelRatio || 1;
    this.zoom = parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_TEXT;
    [this.width, this.height] = [clientWidth / this.zoom, clientHeight / this.zoom];
    const [width, height] = [Math.round(clientWidth * scale), Math.round(clientHeight * scale)];
    if (this.canvas.width === width && this.canvas.height === height) return;
    [this.canvas.width, this.canvas.height] = [width, height];
    this.resized();
  }
}

/** Puts pixels on a picture, at the screen's own resolution, from a place of the picture on. */
export function drawPixels(context: CanvasRenderingContext2D, pixels: Uint32Array, width: number, height: number, [x, y]: [number, number]): void {
  const scale = context.getTransform().a;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d")!.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer as ArrayBuffer), width, height), 0, 0);
  context.drawImage(canvas, x, y, width / scale, height / scale);
}

export const FONT = '12px system-ui, -apple-system, "Segoe UI", sans-serif';
export const SMALL = '11px system-ui, -apple-system, "Segoe UI", sans-serif';

/** How cells of a flow are drawn. */
export interface CellStyle {
  colour: string;
  /** Behind the cells. */
  paper: string;
  broken: boolean;
  faint: boolean;
  /** Whether the last of the cells ends its frame: it carries the end mark. */
  ends: boolean;
}

/**
 * Draws cells in a lane from `y` on, `height` high: `count` of them, the first from `x` on, each the `step` before further left.
 * Where they are too narrow to be told apart they are one bar. Cells of a broken frame are hollow, and the last cell of a frame has a dot.
 */
export function drawCells(
  context: CanvasRenderingContext2D,
  [x, y, width, height]: [number, number, number, number],
  count: number,
  step: number,
  [least, most]: [number, number],
  style: CellStyle,
): void {
  context.globalAlpha = style.faint ? 0.25 : 1;
  context.fillStyle = style.colour;
  context.strokeStyle = style.colour;
  context.lineWidth = 1;
  if (width < 2.5 || step < 1.5) {
    const left = Math.max(least, x - step * (count - 1));
    const right = Math.min(most, x + width);
    if (right > left) bar(context, left, y, Math.max(right - left, 0.75), height, style);
  } else {
    const gap = width >= 5 ? 1 : 0.5;
    const first = Math.max(0, Math.floor((x - most) / step));
    const last = Math.min(count - 1, Math.ceil((x + width - least) / step));
    for (let cell = first; cell <= last; cell++) {
      const left = Math.max(least, x - step * cell);
      const right = Math.min(most, x - step * cell + width - gap);
      if (right - left <= 0.2) continue;
      bar(context, left, y, right - left, height, style);
      if (cell === count - 1 && style.ends && width >= 4) endMark(context, left, right, y, height, style);
    }
  }
  context.globalAlpha = 1;
}

function bar(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, style: CellStyle): void {
  if (!style.broken) {
    context.fillRect(x, y, width, height);
    return;
  }
  context.fillStyle = style.paper;
  context.fillRect(x, y, width, height);
  context.fillStyle = style.colour;
  if (width >= 3 && height >= 4) {
    context.strokeRect(x + 0.5, y + 0.5, Math.max(0.5, width - 1), height - 1);
    if (width >= 6 && height >= 7) {
      context.beginPath();
      context.moveTo(x + 1.5, y + height - 1.5);
      context.lineTo(x + width - 1.5, y + 1.5);
      context.stroke();
    }
  } else {
    // Two thin edges with nothing between them.
    context.fillRect(x, y, width, 1);
    context.fillRect(x, y + height - 1, width, 1);
  }
}

/** The end mark of a frame: a dot in its last cell. */
function endMark(context: CanvasRenderingContext2D, left: number, right: number, y: number, height: number, style: CellStyle): void {
  const radius = Math.min(2, (right - left) / 3.2, height / 3.2);
  if (radius < 0.8) return;
  context.fillStyle = style.broken ? style.colour : style.paper;
  context.beginPath();
  context.arc((left + right) / 2, y + height / 2, radius, 0, 7);
  context.fill();
}

export function roundedRect(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, radius: number): void {
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
}

/** From one stripe of a paused link to the next, and the width of each. */
const [STRIDE, STRIPE] = [6, 2.5];

/** Stripes where something stands still: `strength` of them is seen. They lean, unlike cells. */
export function drawStripes(context: CanvasRenderingContext2D, [x, y, width, height]: [number, number, number, number], colour: string, strength: number): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.globalAlpha = 0.75 * strength;
  context.fillStyle = colour;
  context.beginPath();
  // Places that lie beside each other have stripes that go on.
  for (let left = Math.floor((x - height) / STRIDE) * STRIDE; left < x + width; left += STRIDE) {
    context.moveTo(left, y + height);
    context.lineTo(left + height, y);
    context.lineTo(left + height + STRIPE, y);
    context.lineTo(left + STRIPE, y + height);
  }
  context.fill();
  context.restore();
}

/** Two bars across a lane, from `x` on: what is behind them is paused. */
export function drawPauseSign(context: CanvasRenderingContext2D, x: number, middle: number, height: number, { ink, paper }: { ink: string; paper: string }, strength: number): void {
  const bar = Math.max(1.5, height / 5);
  context.globalAlpha = strength;
  context.fillStyle = paper;
  context.fillRect(x - 1.5, middle - height / 2 - 1.5, 3 * bar + 3, height + 3);
  context.fillStyle = ink;
  for (const left of [x, x + 2 * bar]) context.fillRect(left, middle - height / 2, bar, height);
  context.globalAlpha = 1;
}
