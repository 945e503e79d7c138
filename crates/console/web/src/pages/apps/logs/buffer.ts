// Lines of a log that are kept in the page: so many and no more, however long it stays open.

import type { LogLine } from '#ui';

/** Lines of one chunk of the log. Only whole chunks are dropped, so that those that stay are not drawn anew. */
const CHUNK = 200;
export const MAX_LINES = 4_000;

/** Returns the lines of both, each once, in their order. */
export function joined(older: readonly LogLine[], newer: readonly LogLine[]): readonly LogLine[] {
  const last = older.at(-1)?.id ?? 0;
  const fresh = newer.filter(({ id }) => id > last);
  if (fresh.length === newer.length) return [...older, ...fresh];
  const known = new Set(older.map(({ id }) => id));
  const missing = newer.filter(({ id }) => id <= last && !known.has(id));
  return missing.length === 0 ? [...older, ...fresh] : [...older, ...newer.filter(({ id }) => !known.has(id))].sort((a, b) => a.id - b.id);
}

/** Drops the oldest chunks beyond what is kept. */
export function bounded(lines: readonly LogLine[]): readonly LogLine[] {
  const excess = lines.length - MAX_LINES;
  return excess <= 0 ? lines : lines.slice(Math.ceil(excess / CHUNK) * CHUNK);
}

const LEVELS: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error'];

export interface LogFilter {
  readonly level?: LogLine['level'] | undefined;
  readonly q?: string | undefined;
  readonly runId?: string | undefined;
}

/** Whether a line that came by the stream is one that the list would have, too. */
export function fits(line: LogLine, { level, q, runId }: LogFilter): boolean {
  return (level === undefined || LEVELS.indexOf(line.level) >= LEVELS.indexOf(level))
    && (q === undefined || line.message.toLowerCase().includes(q.toLowerCase()))
    && (runId === undefined || line.runId === runId);
}
