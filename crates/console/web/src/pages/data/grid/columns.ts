// The columns as a person has arranged them: widths, and which are hidden. Kept in the browser, for each table.

import { signal, type Signal } from '@preact/signals';
import type { Column, ColumnType } from './cells';

export interface Arrangement {
  readonly widths: Readonly<Record<string, number>>;
  readonly hidden: readonly string[];
}

const WIDTHS: Readonly<Record<ColumnType, number>> = { text: 200, integer: 110, real: 120, boolean: 96, timestamp: 190, json: 240 };
const ID_WIDTH = 140;
const MIN_WIDTH = 64;
const MAX_WIDTH = 800;
export const WIDTH_STEP = 40;

export function limitWidth(width: number): number {
  return Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, width)));
}

export function widthOf({ widths }: Arrangement, { name, type }: Column): number {
  return widths[name] ?? (name === 'id' ? ID_WIDTH : WIDTHS[type]);
}

function stored(key: string): Arrangement {
  try {
    const value = JSON.parse(localStorage.getItem(key) ?? 'null') as Partial<Arrangement> | null;
    return { widths: value?.widths ?? {}, hidden: value?.hidden ?? [] };
  } catch {
    return { widths: {}, hidden: [] };
  }
}

export class Arranged {
  readonly state: Signal<Arrangement>;
  private readonly key: string;

  constructor(project: string, table: string) {
    this.key = `qala.grid.${project}.${table}`;
    this.state = signal(stored(this.key));
  }

  private set(next: Arrangement): void {
    this.state.value = next;
    try {
      localStorage.setItem(this.key, JSON.stringify(next));
    } catch {
      // The arrangement then lasts as long as the page.
    }
  }

  resize(name: string, width: number): void {
    const { widths, hidden } = this.state.peek();
    this.set({ widths: { ...widths, [name]: limitWidth(width) }, hidden });
  }

  toggle(name: string): void {
    const { widths, hidden } = this.state.peek();
    this.set({ widths, hidden: hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name] });
  }

  showAll(): void {
    this.set({ ...this.state.peek(), hidden: [] });
  }
}

/** Returns the columns that are shown: the id first, then what was not hidden, what the server sets last. */
export function shownColumns<C extends Column>(columns: readonly C[], { hidden }: Arrangement): C[] {
  const own = columns.filter(({ system, name }) => !system && !hidden.includes(name));
  const id = columns.filter(({ name }) => name === 'id');
  const others = columns.filter(({ system, name }) => system && name !== 'id' && !hidden.includes(name));
  return [...id, ...own, ...others];
}
