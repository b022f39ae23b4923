/** A picture of what stands still, drawn once: thousands of lines take longer to draw than one picture may, and are the same in the next. */

import type { Surface } from "./canvas.ts";

export class Still {
  private readonly canvas = document.createElement("canvas");
  private drawn: unknown[] = [];

  /** Draws it on a surface, anew if the surface has another size or something that it was drawn from is another one. */
  draw(surface: Surface, from: unknown[], paint: (context: CanvasRenderingContext2D) => void): void {
    const { width, height } = surface.canvas;
    // A canvas that is not shown has no size.
    if (width === 0 || height === 0) return;
    const now = [width, height, surface.zoom, ...from];
    if (now.some((value, place) => value !== this.drawn[place])) {
      this.drawn = now;
      [this.canvas.width, this.canvas.height] = [width, height];
      const context = this.canvas.getContext("2d")!;
      context.setTransform(surface.context.getTransform());
      paint(context);
    }
    surface.context.save();
    surface.context.resetTransform();
    surface.context.drawImage(this.canvas, 0, 0);
    surface.context.restore();
  }
}
