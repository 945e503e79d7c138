// Reads and writes of a table's rows.

import { send, tagOf } from '#api/client';
import { Problem, asProblem } from '#api/problem';
import { bodyOf, rowOf, selectOf, type Cells, type Column, type Row } from './cells';
import type { RowPage } from './row-window';

const MAX_INSERT = 500;
const MAX_IDS = 50;
const MAX_WAITS = 5;

/** Writes an id as a member of `in.(…)`. */
function quotedId(id: string): string {
  return `"${id.replace(/["\\]/g, '\\$&')}"`;
}

/** Sends a request, and again after the time that the server asks to wait. */
async function patient<T>(request: () => Promise<T>): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await request();
    } catch (error) {
      const { status, retryAfter } = asProblem(error);
      if (status !== 429 || waits >= MAX_WAITS) throw error;
      await new Promise((resolve) => setTimeout(resolve, (retryAfter ?? 1) * 1_000));
    }
  }
}

function totalOf(range: string | null): number | null {
  const total = Number(range?.split('/')[1]);
  return Number.isInteger(total) ? total : null;
}

/** A row as it was read, and the tag that it had then. */
export interface TaggedRow extends Row {
  readonly etag: string | null;
}

export class TableRows {
  readonly url: string;

  constructor(project: string, table: string, readonly columns: readonly Column[]) {
    this.url = `/v1/backend/projects/${encodeURIComponent(project)}/tables/${table}/rows`;
  }

  rowUrl(id: string): string {
    return `${this.url}/${encodeURIComponent(id)}`;
  }

  private get select(): string {
    return `select=${encodeURIComponent(selectOf(this.columns))}`;
  }

  private rows(data: unknown): Row[] {
    return (data as Readonly<Record<string, unknown>>[]).map((value) => rowOf(this.columns, value));
  }

  /** Reads rows that the query selects, in its order. */
  async page(query: string, offset: number, limit: number, counts: boolean): Promise<RowPage> {
    const url = `${this.url}?${query === '' ? '' : `${query}&`}${this.select}&limit=${limit}&offset=${offset}`;
    try {
      const { data, headers } = await patient(() => send<unknown>({ method: 'GET', url, ...(counts ? { headers: { prefer: 'count=exact' } } : {}) }));
      const rows = this.rows(data);
      return { rows, total: counts ? (totalOf(headers.get('content-range')) ?? offset + rows.length) : null };
    } catch (error) {
      // The rows before the offset went away.
      if (!(error instanceof Problem) || error.status !== 416) throw error;
      const { total } = await this.page(query, 0, 1, true);
      return { rows: [], total };
    }
  }

  /** Reads rows by their ids. */
  async byId(ids: readonly string[]): Promise<ReadonlyMap<string, Row>> {
    const found = new Map<string, Row>();
    for (let from = 0; from < ids.length; from += MAX_IDS) {
      const list = ids.slice(from, from + MAX_IDS).map(quotedId).join(',');
      const { rows } = await this.page(`id=${encodeURIComponent(`in.(${list})`)}`, 0, MAX_IDS, false);
      for (const row of rows) found.set(row.id, row);
    }
    return found;
  }

  /** Reads one row, with the tag that its next write is bound to; `null` if it is gone. */
  async fresh(id: string): Promise<TaggedRow | null> {
    let etag: string | null;
    try {
      etag = tagOf((await patient(() => send<unknown>({ method: 'GET', url: this.rowUrl(id) }))).data);
    } catch (error) {
      if (asProblem(error).status === 404) return null;
      throw error;
    }
    const row = (await this.byId([id])).get(id);
    return row === undefined ? null : { ...row, etag };
  }

  /** Writes cells of a row that was read, unless somebody has changed it since: the page may have read it again meanwhile. */
  async update({ id, etag }: TaggedRow, cells: Cells): Promise<void> {
    await patient(() => send({ method: 'PATCH', url: this.rowUrl(id), body: bodyOf(this.columns, cells), throwsConflict: true, ifMatch: etag }));
  }

  /** Inserts rows, each request with those that have the same columns. Returns their ids. */
  async insert(list: readonly Cells[]): Promise<string[]> {
    const ids: string[] = [];
    let from = 0;
    while (from < list.length) {
      const shape = shapeOf(list[from]);
      let end = from + 1;
      while (end < list.length && end - from < MAX_INSERT && shapeOf(list[end]) === shape) end += 1;
      const body = `[${list.slice(from, end).map((cells) => bodyOf(this.columns, cells)).join(',')}]`;
      const { data } = await patient(() => send<{ id: string }[]>({ method: 'POST', url: this.url, body }));
      ids.push(...data.map(({ id }) => id));
      from = end;
    }
    return ids;
  }

  async remove(id: string): Promise<void> {
    await patient(() => send({ method: 'DELETE', url: this.rowUrl(id) }));
  }
}

function shapeOf(cells: Cells | undefined): string {
  return Object.keys(cells ?? {}).sort().join(',');
}
