// What an expression means, while it is written.

import { locale } from '#i18n';
import { Time } from '#ui';
import { isZone, nextTimes, parseCron } from './cron';
import { t } from './messages';
import { cronWords } from './words';

const SHOWN = 5;

/** Times on the clock of their zone, and how far off they are. */
export function Times({ times, zone }: { times: readonly Date[]; zone: string }) {
  return (
    <ol class="automations-times" aria-label={t('upcoming')}>
      {times.map((time) => <li key={time.getTime()}><span>{clockOf(time, zone)}</span><span class="muted"><Time at={time.toISOString()} /></span></li>)}
    </ol>
  );
}

/** `Mon 24.11.2026 09:00` without names of months, which not every browser has in Kazakh. */
function clockOf(time: Date, zone: string): string {
  const of = locale.value === 'kk' ? 'ru' : locale.value;
  const day = new Intl.DateTimeFormat('en', { timeZone: isZone(zone) ? zone : 'UTC', weekday: 'short' }).format(time);
  const clock = new Intl.DateTimeFormat(of === 'en' ? 'en-GB' : of, { timeZone: isZone(zone) ? zone : 'UTC', day: '2-digit', month: '2-digit', year: 'numeric', hour: '2-digit', minute: '2-digit' }).format(time);
  return t('dayAndClock', { day: t.find(`short_${day.toLowerCase()}`) ?? day, clock });
}

export function SchedulePreview({ cron: text, zone }: { cron: string; zone: string }) {
  const cron = parseCron(text);
  const times = cron && isZone(zone) ? nextTimes(cron, zone, Date.now(), SHOWN) : [];
  return (
    <div class="automations-preview" role="status">
      <p class="automations-words">{cronWords(text) ?? t('notCron')}</p>
      {cron !== null && (times.length > 0 ? <Times times={times} zone={zone} /> : <p class="muted">{t('never')}</p>)}
    </div>
  );
}
