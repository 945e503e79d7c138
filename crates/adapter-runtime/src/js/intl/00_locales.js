// `Intl.DateTimeFormat` (ECMA-402 §11) for three languages, and what `Date` has of it. The sections of this folder are joined
// into one module, which is loaded when app code first touches `Intl` or a `toLocale…String` of `Date`. Names and patterns
// are those of CLDR.

let native, TypeError, RangeError, NumberOf, now, apply, getTime, defineProperty, toStringTag, create;

const object = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const words = (text) => text.split(' ');

/** Months alone and in a date, days of the week from Sunday, and what stands between date and time. */
const LOCALES = {
  __proto__: null,
  en: {
    months: {
      long: words('January February March April May June July August September October November December'),
      short: words('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'),
      narrow: words('J F M A M J J A S O N D'),
    },
    weekdays: {
      long: words('Sunday Monday Tuesday Wednesday Thursday Friday Saturday'),
      short: words('Sun Mon Tue Wed Thu Fri Sat'),
      narrow: words('S M T W T F S'),
    },
    eras: { long: ['Before Christ', 'Anno Domini'], short: ['BC', 'AD'], narrow: ['B', 'A'] },
    hourCycle: 'h12', dayPeriods: ['AM', 'PM'], decimal: '.', day: 'day', second: 'second', longGlue: ' at ', weekdayGlue: ' ',
    utc: 'Coordinated Universal Time',
    styles: {
      full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
      long: { year: 'numeric', month: 'long', day: 'numeric' },
      medium: { year: 'numeric', month: 'short', day: 'numeric' },
      short: { year: '2-digit', month: 'numeric', day: 'numeric' },
    },
  },
  ru: {
    months: {
      long: words('январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь'),
      short: words('янв. февр. март апр. май июнь июль авг. сент. окт. нояб. дек.'),
      narrow: words('Я Ф М А М И И А С О Н Д'),
    },
    inDate: {
      long: words('января февраля марта апреля мая июня июля августа сентября октября ноября декабря'),
      short: words('янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек.'),
    },
    weekdays: {
      long: words('воскресенье понедельник вторник среда четверг пятница суббота'),
      short: words('вс пн вт ср чт пт сб'),
      narrow: words('В П В С Ч П С'),
    },
    eras: {
      long: ['до Рождества Христова', 'от Рождества Христова'], short: ['до н. э.', 'н. э.'], narrow: ['до н.э.', 'н.э.'],
    },
    hourCycle: 'h23', dayPeriods: ['AM', 'PM'], decimal: ',', day: 'день', second: 'секунда', longGlue: ' в ', weekdayGlue: ', ',
    utc: 'Всемирное координированное время',
    styles: {
      full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
      long: { year: 'numeric', month: 'long', day: 'numeric' },
      medium: { year: 'numeric', month: 'short', day: 'numeric' },
      short: { year: 'numeric', month: '2-digit', day: '2-digit' },
    },
  },
  kk: {
    months: {
      long: words('Қаңтар Ақпан Наурыз Сәуір Мамыр Маусым Шілде Тамыз Қыркүйек Қазан Қараша Желтоқсан'),
      short: words('қаң. ақп. нау. сәу. мам. мау. шіл. там. қыр. қаз. қар. жел.'),
      narrow: words('Қ А Н С М М Ш Т Қ Қ Қ Ж'),
    },
    inDate: {
      long: words('қаңтар ақпан наурыз сәуір мамыр маусым шілде тамыз қыркүйек қазан қараша желтоқсан'),
    },
    weekdays: {
      long: words('жексенбі дүйсенбі сейсенбі сәрсенбі бейсенбі жұма сенбі'),
      short: words('жс дс сс ср бс жм сб'),
      narrow: words('Ж Д С С Б Ж С'),
    },
    eras: {
      long: ['Біздің заманымызға дейін', 'біздің заманымыз'], short: ['б.з.д.', 'б.з.'], narrow: ['б.з.д.', 'б.з.'],
    },
    hourCycle: 'h23', dayPeriods: ['AM', 'PM'], decimal: ',', day: 'күн', second: 'секунд', longGlue: ', ', weekdayGlue: ', ',
    utc: 'Дүниежүзілік үйлестірілген уақыт',
    styles: {
      full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
      long: { year: 'numeric', month: 'long', day: 'numeric' },
      medium: { year: 'numeric', month: 'short', day: '2-digit' },
      short: { year: '2-digit', month: '2-digit', day: '2-digit' },
    },
  },
};

/**
 * English with the day first, and English with the numbers of a date as ISO 8601 has them, which stands for every language that is not
 * carried: the order of the United States would be read as another date there.
 */
const { en } = LOCALES;
LOCALES['en-GB'] = {
  ...en, hourCycle: 'h23', hour12: 'h11', dayPeriods: ['am', 'pm'],
  styles: { ...en.styles, short: { year: 'numeric', month: '2-digit', day: '2-digit' } },
};
LOCALES['en-SE'] = LOCALES['en-GB'];
const isEnglish = (locale) => locale === 'en' || locale === 'en-GB' || locale === 'en-SE';
/** Regions whose English has the month first, or dates as ISO 8601 has them; others have the day first. */
const ENGLISH = { __proto__: null, us: 'en', ph: 'en', pr: 'en', gu: 'en', vi: 'en', as: 'en', mh: 'en', mp: 'en', um: 'en', ca: 'en-SE', se: 'en-SE' };

/** A well-formed language tag, as far as it is looked at: letters of a language, and subtags. */
const TAG = /^(?:[a-z]{2,3}|[a-z]{5,8})(?:-[a-z0-9]{1,8})*$/i;

/** The tags that are asked for (§9.2.1), each once. */
const tagsOf = (locales) => {
  if (locales === undefined) return [];
  if (locales === null) throw new TypeError('locales must be text or a list of it');
  const list = typeof locales === 'string' ? [locales] : locales;
  const tags = [];
  for (let at = 0; at < NumberOf(list.length ?? 0); at++) {
    if (!(at in Object(list))) continue;
    const tag = list[at];
    if (typeof tag !== 'string' && !object(tag)) throw new TypeError('a locale must be text');
    if (!TAG.test(`${tag}`)) throw new RangeError(`${`${tag}`.slice(0, 40)} is not a language tag`);
    if (!tags.includes(`${tag}`)) tags.push(`${tag}`);
  }
  return tags;
};
const languageOf = (tag) => {
  const [language] = tag.toLowerCase().split('-');
  return LOCALES[language] === undefined ? undefined : language;
};
/** The patterns for a tag, `undefined` for a language that is not carried. */
const patternsOf = (tag) => {
  const language = languageOf(tag);
  if (language !== 'en') return language;
  const region = /^en(?:-[a-z]{4})?-([a-z]{2}|[0-9]{3})(?:-|$)/.exec(tag.toLowerCase())?.[1];
  return region === undefined ? 'en' : ENGLISH[region] ?? 'en-GB';
};
/** The keywords of a tag's Unicode extension (RFC 6067), the first of each key. */
const keywordsOf = (tag) => {
  const parts = tag.toLowerCase().split('-x-')[0].split('-');
  const keywords = create(null);
  let key;
  for (let at = parts.indexOf('u') + 1; at > 0 && at < parts.length && parts[at].length > 1; at++) {
    const part = parts[at];
    if (part.length > 2) {
      if (key !== undefined) keywords[key] += keywords[key] === '' ? part : `-${part}`;
    } else if (keywords[part] === undefined) {
      key = part;
      keywords[key] = '';
    } else {
      key = undefined;
    }
  }
  return keywords;
};
/** Case as RFC 5646 recommends (§2.1.1). */
const canonicalTag = (tag) => tag.toLowerCase().split('-').map((part, at, all) => {
  if (at === 0 || all.slice(0, at).some((before) => before.length === 1)) return part;
  if (part.length === 4) return part[0].toUpperCase() + part.slice(1);
  return part.length === 2 ? part.toUpperCase() : part;
}).join('-');
