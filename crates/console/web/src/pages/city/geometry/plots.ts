// Which plot belongs to whom. A plot never moves: the town grows around what is there.

/** A plot of the grid. */
export interface Cell {
  readonly column: number;
  readonly row: number;
}

/**
 * Returns the cell of a plot. Plots fill one square after the other: first the column at its right, then the row at its front, so
 * that a town of any size is about as wide as deep and no number changes its place.
 */
export function cellOf(plot: number): Cell {
  const ring = Math.floor(Math.sqrt(plot));
  const rest = plot - ring * ring;
  return rest < ring ? { column: ring, row: rest } : { column: rest - ring, row: ring };
}

export interface Extent {
  readonly columns: number;
  readonly rows: number;
}

/** Returns the columns and rows that plots up to `count` take. */
export function extentOf(count: number): Extent {
  if (count === 0) return { columns: 1, rows: 1 };
  const ring = Math.floor(Math.sqrt(count - 1));
  const rest = count - 1 - ring * ring;
  return { columns: ring + 1, rows: rest < ring ? ring : ring + 1 };
}

interface Placed {
  readonly id: string;
  readonly createdAt: string;
}

/**
 * Gives each item a plot, oldest first. Who has one in `before` keeps it, and who is new takes the next that is free: what is
 * deleted leaves a gap, until the town is drawn without `before`.
 */
export function assignPlots(items: readonly Placed[], before: ReadonlyMap<string, number> = new Map()): Map<string, number> {
  const plots = new Map<string, number>();
  for (const { id } of items) {
    const plot = before.get(id);
    if (plot !== undefined) plots.set(id, plot);
  }
  const taken = new Set(plots.values());
  const newcomers = items.filter(({ id }) => !plots.has(id)).sort((a, b) => compare(a.createdAt, b.createdAt) || compare(a.id, b.id));
  let next = 0;
  for (const { id } of newcomers) {
    while (taken.has(next)) next += 1;
    plots.set(id, next);
    taken.add(next);
  }
  return plots;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
