// Kazakh names of months, days and units. Browsers name the language as supported and have no data for it: Chromium writes
// `2026 M11 24`. Numbers and clock times are written as in Russian, for which there is data everywhere.

const MONTHS = ['қаңтар', 'ақпан', 'наурыз', 'сәуір', 'мамыр', 'маусым', 'шілде', 'тамыз', 'қыркүйек', 'қазан', 'қараша', 'желтоқсан'];
const SHORT_MONTHS = ['қаң.', 'ақп.', 'нау.', 'сәу.', 'мам.', 'мау.', 'шіл.', 'там.', 'қыр.', 'қаз.', 'қар.', 'жел.'];
const WEEKDAYS = ['жексенбі', 'дүйсенбі', 'сейсенбі', 'сәрсенбі', 'бейсенбі', 'жұма', 'сенбі'];
const UNITS: Readonly<Record<string, string>> = {
  millisecond: 'мс', second: 'с', minute: 'мин', hour: 'сағ', day: 'күн', byte: 'байт', kilobyte: 'кБ', megabyte: 'МБ', gigabyte: 'ГБ', terabyte: 'ТБ',
};

/** `24 қар.`. */
export function kazakhDay(date: Date): string {
  return `${date.getDate()} ${SHORT_MONTHS[date.getMonth()]}`;
}

/** `2026 ж. 24 қар.`. */
export function kazakhDate(date: Date): string {
  return `${date.getFullYear()} ж. ${kazakhDay(date)}`;
}

/** `2026 ж. 24 қараша, сейсенбі`. */
export function kazakhLongDate(date: Date): string {
  return `${date.getFullYear()} ж. ${date.getDate()} ${MONTHS[date.getMonth()]}, ${WEEKDAYS[date.getDay()]}`;
}

/** Returns the short name of a unit, as `Intl` names it in English. */
export function kazakhUnit(unit: string): string {
  return UNITS[unit] ?? unit;
}

/** `3 мин бұрын`, `2 күннен кейін`. */
export function kazakhRelative(value: number, unit: string): string {
  if (value === 0 && unit === 'second') return 'қазір';
  if (unit === 'day' && Math.abs(value) === 1) return value < 0 ? 'кеше' : 'ертең';
  const count = Math.abs(value);
  if (value < 0) return `${count} ${kazakhUnit(unit)} бұрын`;
  const after: Readonly<Record<string, string>> = { second: 'секундтан', minute: 'минуттан', hour: 'сағаттан', day: 'күннен' };
  return `${count} ${after[unit] ?? unit} кейін`;
}

/** `a, b және c`. */
export function kazakhList(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} және ${last}`;
}
