import { signal } from '@preact/signals';
import { formatDuration, formatFull, formatPreciseTime, formatRelative, formatTime } from '#i18n';

/** The current time, for what is shown relative to it. */
export const now = signal(Date.now());

const TICK = 10_000;
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, TICK);

type Style = 'relative' | 'time' | 'precise';

/** A time, in full in its tooltip. */
export function Time({ at, style = 'relative' }: { at: string; style?: Style }) {
  const shown = style === 'relative' ? formatRelative(at, Math.max(now.value, Date.now())) : style === 'time' ? formatTime(at) : formatPreciseTime(at);
  return <time dateTime={at} title={formatFull(at)}>{shown}</time>;
}

/** A duration, and a bar of its length relative to `of`. */
export function DurationBar({ ms, of, tone = 'neutral' }: { ms: number; of: number; tone?: 'neutral' | 'warn' | 'bad' | 'info' }) {
  const share = of > 0 ? Math.min(1, ms / of) : 0;
  return (
    <span class={`duration tone-${tone}`}>
      <span class="duration-text">{formatDuration(ms)}</span>
      <svg class="duration-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="4" class="track" /><rect width={Math.max(2, share * 100)} height="4" class="value" /></svg>
    </span>
  );
}
