import { signal } from '@preact/signals';
import { formatDateTime, formatDuration, formatFull, formatPreciseTime, formatRelative, formatTime, formatZoned } from '#i18n';

/** The current time, for what is shown relative to it. */
export const now = signal(Date.now());

const TICK = 10_000;
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, TICK);

/** `relative` beside a name, `moment` inside a sentence, `time` where the day is known. */
type Form = 'relative' | 'moment' | 'time' | 'precise';

function shownAs(form: Form, at: string, zone: string | undefined): string {
  switch (form) {
    case 'relative': return formatRelative(at, Math.max(now.value, Date.now()), zone);
    case 'moment': return zone === undefined ? formatDateTime(at) : formatZoned(at, zone);
    case 'time': return formatTime(at);
    case 'precise': return formatPreciseTime(at);
  }
}

/** `zone` has the whole days of a relative time, and the clock of a moment, which names it unless it is the browser's own. */
type TimeProps = { readonly at: string } & (
  | { readonly as?: 'relative' | 'moment'; readonly zone?: string | undefined }
  | { readonly as: 'time' | 'precise'; readonly zone?: undefined }
);

/** A time, in full and in the browser's zone in its tooltip. */
export function Time({ at, as = 'relative', zone }: TimeProps) {
  return <time dateTime={at} title={formatFull(at)}>{shownAs(as, at, zone)}</time>;
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
