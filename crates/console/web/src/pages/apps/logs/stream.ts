// The stream of an app's log.

import type { LogLine } from '#ui';

const RETRY_FROM = 2_000;
const RETRY_UP_TO = 30_000;

interface Follower {
  /** The stream is open: what was written before has to be read. */
  onOpen(): void;
  onLines(lines: readonly LogLine[]): void;
  onClosed(): void;
}

/** Follows the log of an app until the returned function is called. Reconnects by itself. */
export function followLog(appId: string, { onOpen, onLines, onClosed }: Follower): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let wait = RETRY_FROM;
  const open = () => {
    source = new EventSource(`/v1/apps/${encodeURIComponent(appId)}/logs/stream`);
    source.onopen = () => {
      wait = RETRY_FROM;
      onOpen();
    };
    source.addEventListener('log', ({ data }: MessageEvent<string>) => onLines((JSON.parse(data) as { lines: LogLine[] }).lines));
    // Lines were missed: they are read again.
    source.addEventListener('resync', onOpen);
    source.onerror = () => {
      onClosed();
      if (source?.readyState !== EventSource.CLOSED) return;
      // A browser reconnects by itself, but not after a refusal.
      timer = setTimeout(open, wait + Math.random() * wait);
      wait = Math.min(wait * 2, RETRY_UP_TO);
    };
  };
  open();
  return () => {
    source?.close();
    if (timer !== null) clearTimeout(timer);
  };
}
