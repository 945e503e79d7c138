const two = (number) => `${number}`.padStart(2, '0');

/** Seconds that a zone is ahead of UTC at a time, and what it is called then. */
const offsetAt = (zone, millis) => {
  if (zone[0] === '+' || zone[0] === '-') {
    const seconds = (NumberOf(zone.slice(1, 3)) * 60 + NumberOf(zone.slice(4))) * 60;
    return [zone[0] === '-' ? -seconds : seconds, ''];
  }
  return native.zoneOffset(zone, millis);
};

/** Numbers of a day in the Gregorian calendar, counted from 1970-01-01. */
const civil = (days) => {
  // Eras of 400 years that begin in March, after the leap day.
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const ofEra = shifted - era * 146097;
  const yearOfEra = Math.floor((ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36524) - Math.floor(ofEra / 146096)) / 365);
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 2 : fromMarch - 10;
  return {
    year: yearOfEra + era * 400 + (month < 2 ? 1 : 0), month, day: ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
    weekday: ((days + 4) % 7 + 7) % 7,
  };
};

/** Abbreviations that people in North America know; elsewhere an offset says more. */
const NORTH_AMERICAN = words('EST EDT CST CDT MST MDT PST PDT AKST AKDT HST HDT');

const zoneName = ({ locale, timeZone }, form, [seconds, abbreviation]) => {
  if (timeZone === 'UTC' || timeZone === 'Etc/UTC') {
    if (form === 'short') return 'UTC';
    if (form === 'long') return LOCALES[locale].utc;
  }
  if (form === 'short' && locale === 'en' && /^(?:America|US|Canada|Pacific\/Honolulu)/.test(timeZone)
    && NORTH_AMERICAN.includes(abbreviation)) return abbreviation;
  if (seconds === 0) return 'GMT';
  const all = Math.abs(seconds);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const sign = seconds < 0 ? '-' : '+';
  const isLong = form.startsWith('long');
  const end = rest === 0 ? '' : `:${two(rest)}`;
  if (isLong) return `GMT${sign}${two(hours)}:${two(minutes)}${end}`;
  return `GMT${sign}${hours}${minutes === 0 && rest === 0 ? '' : `:${two(minutes)}${end}`}`;
};

/** The pattern of the date, with the fields in braces. */
const datePattern = (locale, { weekday, era, year, month, day }) => {
  const has = (value) => value !== undefined;
  const isText = has(month) && month !== 'numeric' && month !== '2-digit';
  let out = '';
  let isWhole = has(day);
  if (!has(month)) {
    const ofYear = has(era) && has(year) && !isEnglish(locale) ? (locale === 'ru' ? '{year} г. {era}' : '{era} {year} ж.')
      : [has(year) ? '{year}' : '', has(era) ? '{era}' : ''].filter((part) => part !== '').join(' ');
    if (has(day) && (has(year) || (has(era) && !has(weekday)))) {
      return `${ofYear} (${LOCALES[locale].day}: {day})${has(weekday) ? ' {weekday}' : ''}`;
    }
    out = ofYear + (has(day) ? '{day}' : '');
    if (has(day) && has(weekday)) {
      const both = locale === 'en' ? '{day} {weekday}' : isEnglish(locale) ? '{weekday} {day}' : locale === 'ru' ? '{weekday}, {day}' : '{day}, {weekday}';
      return !has(era) ? both : isEnglish(locale) ? `${both} {era}` : `{era} ${both}`;
    }
    isWhole = false;
  } else if (locale === 'en') {
    out = isText ? `{month}${has(day) ? ' {day}' : ''}${has(year) ? (has(day) ? ', {year}' : ' {year}') : ''}`
      : ['{month}', has(day) ? '{day}' : '', has(year) ? '{year}' : ''].filter((part) => part !== '').join('/');
    if (has(era)) out += ' {era}';
  } else if (isEnglish(locale)) {
    const numbers = [has(day) ? '{day}' : '', '{month}', has(year) ? '{year}' : ''].filter((part) => part !== '');
    out = isText ? numbers.join(' ') : locale === 'en-GB' ? numbers.join('/') : numbers.reverse().join('-');
    if (has(era)) out += ' {era}';
    if (has(weekday) && has(day) && isText && !has(year)) return `{weekday} ${out}`;
  } else if (!isText) {
    out = [has(day) ? '{day}' : '', '{month}', has(year) ? '{year}' : ''].filter((part) => part !== '').join('.');
    if (has(era)) out = locale === 'ru' ? `${out} {era}` : `{era} ${out}`;
  } else if (locale === 'ru') {
    out = `${has(day) ? '{day} ' : ''}{month}${has(year) ? ' {year} г.' : ''}${has(era) ? ' {era}' : ''}`;
  } else {
    out = `${has(era) ? '{era} ' : ''}${has(year) ? '{year} ж. ' : ''}${has(day) ? '{day} ' : ''}{month}`;
  }
  if (!has(weekday)) return out;
  if (out === '') return '{weekday}';
  if (!isWhole) return `${out} {weekday}`;
  return locale === 'kk' ? `${out}, {weekday}` : `{weekday}, ${out}`;
};

/** The pattern of the time and its zone, nothing if there is no field of a time. */
const timePattern = (locale, hourCycle, { hour, minute, second, fractionalSecondDigits, timeZoneName }) => {
  const has = (value) => value !== undefined;
  // A fraction beside an hour or minute brings its second, without which it could not be told from them.
  const hasSecond = has(second) || (has(fractionalSecondDigits) && (has(hour) || has(minute)));
  const fraction = has(fractionalSecondDigits) ? `${hasSecond ? LOCALES[locale].decimal : ''}{fractionalSecond}` : '';
  const seconds = (hasSecond ? '{second}' : '') + fraction;
  // Right after an hour, a second would read as a minute.
  const isApart = has(hour) && !has(minute) && hasSecond;
  let out = [has(hour) ? '{hour}' : '', has(minute) ? '{minute}' : '', isApart ? '' : seconds].filter((part) => part !== '').join(':');
  if (out === '') return '';
  if (has(hour) && (hourCycle === 'h11' || hourCycle === 'h12')) out += ' {dayPeriod}';
  if (has(timeZoneName)) out += ' {timeZoneName}';
  return isApart ? `${out} (${LOCALES[locale].second}: ${seconds})` : out;
};

/** Whether the hour has two digits: as asked, and always on a clock of 24 hours, but where CLDR keeps a single digit. */
const isHourPadded = (locale, hourCycle, { weekday, month, hour, minute, timeZoneName }) => {
  if (hour === '2-digit') return true;
  if (hourCycle === 'h11' || hourCycle === 'h12') return false;
  if (locale === 'en') return true;
  if (minute === undefined) return locale === 'kk' || isEnglish(locale);
  return minute !== '2-digit' || timeZoneName !== undefined || (weekday !== undefined && month === undefined);
};

/** Whether a number has two digits in the pattern. */
const isTwoDigits = ({ locale, hourCycle, fields }, name) => {
  if (name === 'hour') return isHourPadded(locale, hourCycle, fields);
  if (name === 'minute') return (fields.hour ?? fields.second ?? fields.fractionalSecondDigits) !== undefined;
  if (name === 'second') return fields.minute !== undefined;
  if (fields[name] === '2-digit') return true;
  const { day, month, year } = fields;
  return locale !== 'en' && (day !== undefined || year !== undefined) && (month === 'numeric' || month === '2-digit');
};

/** The text of each field at a time. */
const valuesAt = (format, millis) => {
  const { locale, timeZone, hourCycle, fields } = format;
  const offset = offsetAt(timeZone, millis);
  const local = millis + offset[0] * 1000;
  const days = Math.floor(local / 86400000);
  const ofDay = local - days * 86400000;
  const { year, month, day, weekday } = civil(days);
  const names = LOCALES[locale];
  const [hour, minute, second] = [Math.floor(ofDay / 3600000), Math.floor(ofDay / 60000) % 60, Math.floor(ofDay / 1000) % 60];
  const yearOfEra = year > 0 ? year : 1 - year;
  const digits = (name, number) => (isTwoDigits(format, name) ? two(number) : `${number}`);
  const shownHour = hourCycle === 'h12' ? hour % 12 || 12 : hourCycle === 'h11' ? hour % 12 : hourCycle === 'h24' ? hour || 24 : hour;
  const inDate = names.inDate?.[fields.month];
  // Russian has the other case beside a day only.
  const months = inDate !== undefined && (fields.day !== undefined || (locale === 'kk' && fields.year !== undefined)) ? inDate
    : names.months[fields.month];
  return {
    __proto__: null,
    weekday: names.weekdays[fields.weekday]?.[weekday],
    era: names.eras[fields.era]?.[year > 0 ? 1 : 0],
    year: fields.year === '2-digit' ? two(yearOfEra % 100) : `${yearOfEra}`,
    month: months?.[month] ?? digits('month', month + 1),
    day: digits('day', day),
    hour: digits('hour', shownHour),
    minute: digits('minute', minute),
    second: digits('second', second),
    fractionalSecond: `${ofDay % 1000}`.padStart(3, '0').slice(0, fields.fractionalSecondDigits),
    dayPeriod: names.dayPeriods[hour < 12 ? 0 : 1],
    timeZoneName: fields.timeZoneName && zoneName(format, fields.timeZoneName, offset),
  };
};

const patternOf = ({ locale, hourCycle, fields, dateStyle }) => {
  const date = datePattern(locale, fields);
  const time = timePattern(locale, hourCycle, fields);
  if (time === '') {
    const zone = fields.timeZoneName === undefined ? '' : '{timeZoneName}';
    return date === '' || zone === '' ? date + zone : `${date}, ${zone}`;
  }
  if (date === '') return time;
  if (date === '{weekday}') return date + (fields.minute === undefined ? LOCALES[locale].weekdayGlue : ' ') + time;
  const isLong = dateStyle === undefined ? fields.month === 'long' : dateStyle === 'full' || dateStyle === 'long';
  return date + (isLong ? LOCALES[locale].longGlue : ', ') + time;
};

/** The parts of a time: fields, and what stands between them. */
const partsAt = (format, millis) => {
  if (!(Math.abs(millis) <= 8.64e15)) throw new RangeError('the date is not valid');
  const values = valuesAt(format, Math.trunc(millis));
  const parts = [];
  const pieces = format.pattern.split(/[{}]/);
  for (let at = 0; at < pieces.length; at++) {
    // Between braces there is the name of a field.
    const isField = at % 2 === 1;
    if (pieces[at] !== '') parts.push(isField ? { type: pieces[at], value: values[pieces[at]] } : { type: 'literal', value: pieces[at] });
  }
  return parts;
};
const textAt = (format, millis) => {
  const parts = partsAt(format, millis);
  let out = '';
  for (let at = 0; at < parts.length; at++) out += parts[at].value;
  return out;
};
