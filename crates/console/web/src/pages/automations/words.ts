// What starts an automation, in words.

import type { Schemas } from '#api/types';
import { formatList } from '#i18n';
import { triggerText } from '#ui/status';
import { isStarred, parseCron, type Cron } from './cron';
import { t } from './messages';

const MAX_TIMES = 6;
const WEEKDAY_KEYS = ['weekday_0', 'weekday_1', 'weekday_2', 'weekday_3', 'weekday_4', 'weekday_5', 'weekday_6'] as const;
const MONTH_KEYS = ['month_1', 'month_2', 'month_3', 'month_4', 'month_5', 'month_6', 'month_7', 'month_8', 'month_9', 'month_10', 'month_11', 'month_12'] as const;

const twoDigits = (value: number) => String(value).padStart(2, '0');
const weekdayNames = (weekdays: readonly number[]) => formatList([...weekdays.filter((day) => day > 0), ...weekdays.filter((day) => day === 0)].map((day) => t(WEEKDAY_KEYS[day] ?? 'weekday_0')));
const monthNames = (months: readonly number[]) => formatList(months.map((month) => t(MONTH_KEYS[month - 1] ?? 'month_1')));

/** Returns how often a schedule that restricts no day fires within each hour or day, if that has a short name. */
function frequency({ minutes, fields: [minute, hour] }: Cron): string | null {
  const everyMinutes = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (minute === '*' && hour === '*') return t('everyMinute');
  if (everyMinutes !== undefined && 60 % Number(everyMinutes) === 0 && hour === '*') return t('everyMinutes', { count: Number(everyMinutes) });
  if (minutes.length !== 1) return null;
  const past = twoDigits(minutes[0] ?? 0);
  const everyHours = /^\*\/(\d+)$/.exec(hour)?.[1];
  if (hour === '*') return t('everyHour', { minute: past });
  if (everyHours !== undefined && 24 % Number(everyHours) === 0) return t('everyHours', { count: Number(everyHours), minute: past });
  return null;
}

/** Returns a schedule as a sentence. One for which there is none is told field by field. */
export function cronWords(expression: string): string | null {
  const cron = parseCron(expression);
  if (!cron) return null;
  const { minutes, hours, days, months, weekdays, fields: [, , day, month, weekday] } = cron;
  const isAny = (field: string) => field === '*' || field === '?';
  // All days of the week beside days of the month make every day of these.
  const anyWeekday = isAny(weekday) || (weekdays.length === 7 && (isStarred(weekday) || isStarred(day)));
  const [anyDay, anyMonth] = [isAny(day), isAny(month)];
  const often = frequency(cron);
  if (often !== null && anyDay && anyMonth && anyWeekday) return often;
  const hasTimes = minutes.length * hours.length <= MAX_TIMES;
  const times = formatList(hours.flatMap((hour) => minutes.map((minute) => `${twoDigits(hour)}:${twoDigits(minute)}`)));
  if (hasTimes && anyMonth && anyDay && anyWeekday) return t('daily', { times });
  if (hasTimes && anyMonth && anyDay && weekdays.join() === '1,2,3,4,5') return t('workdays', { times });
  if (hasTimes && anyMonth && anyDay) return t('weekly', { days: weekdayNames(weekdays), times });
  if (hasTimes && anyMonth && anyWeekday) return t('monthly', { days: formatList(days.map(String)), times });
  if (hasTimes && anyDay && anyWeekday) return t('inMonths', { months: monthNames(months), times });
  if (hasTimes && anyWeekday) return t('yearly', { days: formatList(days.map(String)), months: monthNames(months), times });
  const [minuteText, hourText, dayText, monthText, weekdayText] = cron.fields;
  return t('customCron', { minutes: minuteText, hours: hourText, days: dayText, months: monthText, weekdays: weekdayText });
}

/** Returns what starts an automation: its schedule, its event, or the kind of its trigger. */
export function triggerWords({ type, cron, event }: Schemas['Trigger']): string {
  if (type === 'schedule') return cronWords(cron ?? '') ?? cron ?? triggerText(type);
  if (type === 'event' && event) return t('onEvent', { event });
  return triggerText(type);
}
