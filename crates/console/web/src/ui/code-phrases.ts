// What CodeMirror says, by its own phrases in English.

import { locale, type Locale } from '#i18n';

type Phrases = Readonly<Record<string, string>>;

const RU: Phrases = {
  '$ unchanged lines': 'Строк без изменений: $', 'Find': 'Найти', 'Replace': 'Заменить на', 'next': 'далее', 'previous': 'назад', 'all': 'все', 'match case': 'с учётом регистра', 'regexp': 'регулярное выражение', 'by word': 'слово целиком',
  'replace': 'заменить', 'replace all': 'заменить все', 'close': 'закрыть', 'Go to line': 'Перейти к строке', 'go': 'перейти', 'current match': 'текущее совпадение', 'on line': 'в строке', 'replaced $ matches': 'Заменено совпадений: $', 'replaced match on line $': 'Заменено совпадение в строке $',
  'Control character': 'Управляющий символ', 'Selection deleted': 'Выделенное удалено', 'folded code': 'свёрнутый код', 'unfold': 'развернуть', 'to': 'до',
};

const KK: Phrases = {
  '$ unchanged lines': 'Өзгермеген жолдар: $', 'Find': 'Табу', 'Replace': 'Ауыстыру', 'next': 'келесі', 'previous': 'алдыңғы', 'all': 'барлығы', 'match case': 'регистрді ескеру', 'regexp': 'тұрақты өрнек', 'by word': 'толық сөз',
  'replace': 'ауыстыру', 'replace all': 'барлығын ауыстыру', 'close': 'жабу', 'Go to line': 'Жолға өту', 'go': 'өту', 'current match': 'ағымдағы сәйкестік', 'on line': 'мына жолда:', 'replaced $ matches': 'Ауыстырылған сәйкестік: $', 'replaced match on line $': '$-жолдағы сәйкестік ауыстырылды',
  'Control character': 'Басқару таңбасы', 'Selection deleted': 'Белгіленген мәтін жойылды', 'folded code': 'жиналған код', 'unfold': 'жаю', 'to': 'дейін',
};

const PHRASES: Readonly<Record<Locale, Phrases>> = { en: {}, ru: RU, kk: KK };

/** Returns the phrases of the current language. */
export function codePhrases(): Record<string, string> {
  return { ...PHRASES[locale.peek()] };
}
