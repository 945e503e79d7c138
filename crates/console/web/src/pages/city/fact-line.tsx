// The numbers below the town.

import { formatDuration, formatNumber } from '#i18n';
import type { Totals } from './facts';
import { t } from './messages';

export function FactLine({ ws, totals, openDeadLetters, isTown }: { ws: string; totals: Totals | null; openDeadLetters: number | null; isTown: boolean }) {
  const strong = (text: string) => <strong>{text}</strong>;
  return (
    <div class="city-line">
      {totals?.over === 'day' && <span>{t.rich('runsDay', { number: strong(formatNumber(totals.runs)) })}</span>}
      {totals?.over === 'hour' && <span>{t.rich('runsHour', { number: strong(formatNumber(totals.runs)) })}</span>}
      {totals?.succeeded != null && <span>{t.rich('succeeded', { share: strong(formatNumber(floored(totals.succeeded), { style: 'percent', maximumFractionDigits: 1 })) })}</span>}
      {totals?.minutesSaved != null && totals.minutesSaved > 0 && <span>{t.rich('saved', { time: strong(formatDuration(totals.minutesSaved * 60_000)) })}</span>}
      {openDeadLetters !== null && <a href={`/w/${ws}/dead-letters?state=open`}>{t.rich('lettersOpen', { number: strong(formatNumber(openDeadLetters)) })}</a>}
      {isTown && <span class="city-keys">{t.rich('keys', { arrows: <kbd>←↑↓→</kbd>, enter: <kbd>↵</kbd>, zoom: <kbd>+ −</kbd>, table: <kbd>T</kbd> })}</span>}
    </div>
  );
}

/** Rounds down, so that 100 % is said only of what has no failure. */
function floored(share: number): number {
  return Math.floor(share * 1_000) / 1_000;
}
