// Moving the camera with the pointer, the wheel and the keyboard.
//
// While it moves, the drawing that there is is moved and scaled as a picture, which a browser does without painting. Once it rests, the
// drawing is painted at its new scale.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fit, keepInSight, pan, reveal, toWindow, zoomAt, type Camera, type Size } from './geometry/camera';
import type { Bounds, Point } from './geometry/projection';

const REST = 140;
const STEP = 80;
const ZOOM_STEP = 1.35;
/** Movement in pixels after which a press is a drag. */
const DRAG_FROM = 4;

type Holder = { readonly current: HTMLDivElement | null };

export interface CameraControl {
  /** Scale at which the drawing is painted. */
  readonly scale: number;
  readonly zoomIn: () => void;
  readonly zoomOut: () => void;
  readonly showAll: () => void;
  readonly move: (dx: number, dy: number) => void;
  /** Shows a point of the drawing. */
  readonly reveal: (point: Point) => void;
  /** Returns where a point of the drawing is in the window now. */
  readonly place: (point: Point) => Point;
  /** Width of the window. */
  readonly width: () => number;
  /** Calls a listener whenever the camera moves. */
  readonly onMove: (listener: () => void) => () => void;
  /** Whether the press that ends with this click was a drag. */
  readonly wasDragged: () => boolean;
}

class Control {
  camera: Camera = { scale: 1, x: 0, y: 0 };
  size: Size = { width: 0, height: 0 };
  minScale = 0.05;
  painted = 1;
  /** Whether somebody moved it: it then no longer follows the size of the town. */
  isMoved = false;
  dragged = false;
  readonly listeners = new Set<() => void>();
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(readonly bounds: { current: Bounds }, private readonly plane: Holder, private readonly paint: (scale: number) => void) {}

  fitAll(): void {
    const all = fit(this.bounds.current, this.size);
    this.minScale = Math.min(all.scale, 0.5);
    this.camera = all;
    this.settle();
  }

  set(next: Camera): void {
    this.isMoved = true;
    this.camera = keepInSight(next, this.bounds.current, this.size);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.apply();
    });
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), REST);
  }

  settle(): void {
    this.timer = null;
    this.paint(this.camera.scale);
    this.apply();
  }

  apply(): void {
    const { left, top } = this.bounds.current;
    const { scale, x, y } = this.camera;
    const element = this.plane.current;
    if (element) element.style.transform = `translate(${x + left * scale}px, ${y + top * scale}px) scale(${scale / this.painted})`;
    for (const listener of this.listeners) listener();
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    if (this.timer !== null) clearTimeout(this.timer);
  }
}

export function useCamera(view: Holder, plane: Holder, bounds: Bounds): CameraControl {
  const [scale, setScale] = useState(1);
  const boundsRef = useRef(bounds);
  boundsRef.current = bounds;
  const control = useMemo(() => new Control(boundsRef, plane, setScale), [plane]);

  // Measured before the effect below fits the town, and so before the first paint: neither a person nor a key meets it at a scale that
  // nobody chose.
  useLayoutEffect(() => {
    if (view.current) control.size = sizeOf(view.current);
  }, [view, control]);
  useEffect(() => {
    const element = view.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      control.size = sizeOf(element);
      if (!control.isMoved) control.fitAll();
      else control.set(control.camera);
    });
    observer.observe(element);
    const stop = listenTo(element, control);
    return () => {
      observer.disconnect();
      stop();
      control.dispose();
    };
  }, [view, control]);
  // The plane begins at the corner of the bounds, which may have moved.
  useLayoutEffect(() => {
    if (control.size.width > 0 && !control.isMoved) control.fitAll();
    else control.apply();
  }, [bounds, control]);
  useLayoutEffect(() => {
    control.painted = scale;
    control.apply();
  }, [scale, control]);

  return useMemo(() => {
    const middle = (): Point => [control.size.width / 2, control.size.height / 2];
    return {
      scale,
      zoomIn: () => control.set(zoomAt(control.camera, ZOOM_STEP, middle(), control.minScale)),
      zoomOut: () => control.set(zoomAt(control.camera, 1 / ZOOM_STEP, middle(), control.minScale)),
      showAll: () => { control.fitAll(); control.isMoved = false; },
      move: (dx, dy) => control.set(pan(control.camera, dx * STEP, dy * STEP)),
      reveal: (point) => {
        const next = reveal(control.camera, point, control.size);
        if (next.x !== control.camera.x || next.y !== control.camera.y) control.set(next);
      },
      place: (point) => toWindow(control.camera, point),
      width: () => control.size.width,
      onMove: (listener) => {
        control.listeners.add(listener);
        return () => void control.listeners.delete(listener);
      },
      wasDragged: () => control.dragged,
    };
  }, [control, scale]);
}

function sizeOf(element: HTMLElement): Size {
  return { width: element.clientWidth, height: element.clientHeight };
}

/** Follows the pointers on the window: one drags, two pinch, and the wheel zooms with Ctrl or ⌘, so that a page still scrolls. */
function listenTo(element: HTMLElement, control: Control): () => void {
  const pointers = new Map<number, Point>();
  const at = (event: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, at(event));
    if (pointers.size === 1) control.dragged = false;
  };
  const move = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (!control.dragged && Math.hypot(dx, dy) < DRAG_FROM) return;
    if (!control.dragged) element.setPointerCapture(event.pointerId);
    control.dragged = true;
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    pointers.set(event.pointerId, now);
    const [other] = others;
    if (!other) return control.set(pan(control.camera, dx, dy));
    const factor = Math.hypot(now[0] - other[0], now[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
    return control.set(zoomAt(control.camera, factor, [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2], control.minScale));
  };
  const up = (event: PointerEvent) => void pointers.delete(event.pointerId);
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    control.set(zoomAt(control.camera, Math.exp(-event.deltaY / 240), at(event), control.minScale));
  };
  element.addEventListener('pointerdown', down);
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', up);
  element.addEventListener('pointercancel', up);
  element.addEventListener('wheel', wheel, { passive: false });
  return () => {
    element.removeEventListener('pointerdown', down);
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', up);
    element.removeEventListener('pointercancel', up);
    element.removeEventListener('wheel', wheel);
  };
}
