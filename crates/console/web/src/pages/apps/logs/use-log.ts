// The lines that the page shows: the newest ones and what comes, or the ones up to a line that an address names.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import { asProblem, type Problem } from '#api/problem';
import type { LogLine } from '#ui';
import { MAX_LINES, bounded, fits, joined, type LogFilter } from './buffer';
import { followLog } from './stream';

const PAGE = 200;
/** Milliseconds for which lines are gathered before they are drawn. */
const DRAW_EVERY = 250;

interface LogState {
  readonly lines: readonly LogLine[];
  readonly hasOlder: boolean;
  /** Lines that came while the person read older ones, and are not kept. */
  readonly held: number;
  readonly isRead: boolean;
  readonly isConnected: boolean;
  readonly keepDays: number;
  readonly problem: Problem | null;
}

export interface LogData extends LogState {
  loadOlder(): Promise<void>;
  /** Tells whether the person reads the end. What comes while they do not never moves what they read. */
  follow(isFollowing: boolean): void;
  /** Reads the newest lines, in place of what is shown. */
  refresh(): void;
}

const NOTHING: LogState = { lines: [], hasOlder: false, held: 0, isRead: false, isConnected: false, keepDays: 0, problem: null };

/** Reads the log of an app. With `upTo`, the lines up to that one, and nothing that comes. */
export function useLog(appId: string, { level, q, runId }: LogFilter, upTo: number | null): LogData {
  const [state, setState] = useState(NOTHING);
  const isFollowing = useRef(true);
  const arrived = useRef<readonly LogLine[]>([]);
  const number = useRef(0);

  const page = useCallback((before: number | undefined) =>
    api.get('/v1/apps/{id}/logs', { path: { id: appId }, query: { level, q, runId, before, limit: PAGE } }), [appId, level, q, runId]);

  const refresh = useCallback(() => {
    const own = (number.current += 1);
    page(upTo === null ? undefined : upTo + 1).then(
      ({ lines, hasMore, keepDays }) => {
        if (own !== number.current) return;
        setState(({ isConnected }) => ({ lines: [...lines].reverse(), hasOlder: hasMore, keepDays, held: 0, isRead: true, isConnected, problem: null }));
      },
      (error: unknown) => { if (own === number.current) setState((now) => ({ ...now, problem: asProblem(error) })); },
    );
  }, [page, upTo]);

  useEffect(() => {
    setState(NOTHING);
    arrived.current = [];
    if (upTo !== null) {
      refresh();
      return undefined;
    }
    let isWaiting = true;
    const draw = () => {
      const lines = arrived.current;
      // Until the first page is there, what comes waits for it.
      if (lines.length === 0) return;
      setState((now) => {
        if (!now.isRead) return now;
        arrived.current = [];
        const isFull = now.lines.length + lines.length > MAX_LINES;
        if (!isFollowing.current && (isFull || now.held > 0)) return { ...now, held: now.held + lines.length };
        return { ...now, lines: bounded(joined(now.lines, lines)), hasOlder: now.hasOlder || isFull };
      });
    };
    const timer = setInterval(draw, DRAW_EVERY);
    const stop = followLog(appId, {
      onOpen: () => {
        isWaiting = false;
        setState((now) => ({ ...now, isConnected: true }));
        if (isFollowing.current) refresh();
      },
      onLines: (lines) => {
        const fresh = lines.filter((line) => fits(line, { level, q, runId }));
        if (fresh.length > 0) arrived.current = [...arrived.current, ...fresh].slice(-MAX_LINES);
      },
      onClosed: () => {
        setState((now) => ({ ...now, isConnected: false }));
        // Without a stream there is still a log to read.
        if (isWaiting) refresh();
        isWaiting = false;
      },
    });
    return () => {
      stop();
      clearInterval(timer);
      number.current += 1;
    };
  }, [appId, level, q, runId, upTo, refresh]);

  const loadOlder = async () => {
    const first = state.lines[0]?.id;
    if (first === undefined) return;
    const { lines, hasMore } = await page(first);
    setState((now) => ({ ...now, lines: [...[...lines].reverse(), ...now.lines].slice(0, MAX_LINES + PAGE), hasOlder: hasMore }));
  };
  const follow = useCallback((next: boolean) => {
    isFollowing.current = next;
    setState((now) => {
      if (next && now.held > 0) refresh();
      return now;
    });
  }, [refresh]);
  return { ...state, loadOlder, follow, refresh };
}
