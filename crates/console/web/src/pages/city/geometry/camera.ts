// What of the drawing is seen: a scale, and where its origin is in the window.

import type { Bounds, Point } from './projection';

export interface Camera {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const MAX_SCALE = 2.5;
/** A few buildings are not drawn larger than this. */
const MAX_FIT = 1.15;
const MARGIN = 28;

/** Returns the camera that shows everything. */
export function fit(bounds: Bounds, { width, height }: Size): Camera {
  const scale = Math.min(MAX_FIT, Math.max(0.02, Math.min((width - MARGIN * 2) / (bounds.right - bounds.left), (height - MARGIN * 2) / (bounds.bottom - bounds.top))));
  return { scale, x: width / 2 - (scale * (bounds.left + bounds.right)) / 2, y: height / 2 - (scale * (bounds.top + bounds.bottom)) / 2 };
}

/** Zooms by a factor, and keeps what is at `point` of the window where it is. */
export function zoomAt(camera: Camera, factor: number, [px, py]: Point, minScale: number): Camera {
  const scale = Math.min(MAX_SCALE, Math.max(minScale, camera.scale * factor));
  const by = scale / camera.scale;
  return { scale, x: px - (px - camera.x) * by, y: py - (py - camera.y) * by };
}

export function pan(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x + dx, y: camera.y + dy };
}

/** Keeps the middle of the window over the drawing, so that one cannot get lost. */
export function keepInSight(camera: Camera, bounds: Bounds, { width, height }: Size): Camera {
  const within = (offset: number, size: number, low: number, high: number) => Math.min(size / 2 - low * camera.scale, Math.max(size / 2 - high * camera.scale, offset));
  return { scale: camera.scale, x: within(camera.x, width, bounds.left, bounds.right), y: within(camera.y, height, bounds.top, bounds.bottom) };
}

/** Moves the camera as little as needed to show a point with some room around it. */
export function reveal(camera: Camera, [x, y]: Point, { width, height }: Size): Camera {
  const room = 90;
  const shift = (at: number, size: number) => (at < room ? room - at : at > size - room ? size - room - at : 0);
  return pan(camera, shift(x * camera.scale + camera.x, width), shift(y * camera.scale + camera.y, height));
}

export const toWindow = (camera: Camera, [x, y]: Point): Point => [x * camera.scale + camera.x, y * camera.scale + camera.y];
