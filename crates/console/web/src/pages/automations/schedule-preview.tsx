// What an expression means, while it is written.

import { formatZoned } from '#i18n';
import { Time } from '#ui';
import { cronMistakeText } from './cron-mistake';
import { isZone, nextTimes, parseCron } from './cron';
import { t } from './messages';
import { cronWords } from './words';

const SHOWN = 5;

/** Times on the clock of their zone, and how far off they are. */
export function Times({ times, zone }: { times: readonly Date[]; zone: string }) {
  return (
    <ol class="automations-times" aria-label={t('upcoming')}>
      {times.map((time) => <li key={time.getTime()}><span>{clockOf(time, zone)}</span><span class="muted"><Time at={time.toISOString()} zone={zone} /></span></li>)}
    </ol>
  );
}

/** `Mon 24 Nov 2026, 09:00 (Asia/Almaty)`: the day of the week, and the time as everywhere. */
function clockOf(time: Date, zone: string): string {
  const timeZone = isZone(zone) ? zone : 'UTC';
  const day = new Intl.DateTimeFormat('en', { timeZone, weekday: 'short' }).format(time);
  return t('dayAndClock', { day: t.find(`short_${day.toLowerCase()}`) ?? day, clock: formatZoned(time, timeZone) });
}

export function SchedulePreview({ cron: text, zone }: { cron: string; zone: string }) {
  const cron = parseCron(text);
  const times = cron && isZone(zone) ? nextTimes(cron, zone, Date.now(), SHOWN) : [];
  return (
    <div class="automations-preview" role="status">
      <p class="automations-words">{cronWords(text) ?? cronMistakeText(text)}</p>
      {cron !== null && (times.length > 0 ? <Times times={times} zone={zone} /> : <p class="muted">{t('never')}</p>)}
    </div>
  );
}
