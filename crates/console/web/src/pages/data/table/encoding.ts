// The encoding of a text file. What is not what it seems is never decoded with replacement signs.

/** Encodings that a person can choose, by their names in the Encoding standard. The first ones are the likeliest. */
export const ENCODINGS = ['windows-1251', 'windows-1252', 'windows-1250', 'windows-1254', 'koi8-r', 'ibm866', 'x-mac-cyrillic', 'utf-16le', 'shift_jis', 'gb18030', 'euc-kr'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** How a text was decoded; `guess` has to be confirmed by a person. */
export type Decoded = { readonly text: string } | { readonly guess: Encoding };

const MARKS: readonly (readonly [string, readonly number[]])[] = [['utf-8', [0xef, 0xbb, 0xbf]], ['utf-16le', [0xff, 0xfe]], ['utf-16be', [0xfe, 0xff]]];

/** Decodes a text in the encoding that its mark names, else in UTF-8. Returns the likeliest encoding of one that is in neither. */
export function decode(bytes: Uint8Array): Decoded {
  const marked = MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
  const text = decodeAs(bytes, marked ?? 'utf-8');
  return text === null ? { guess: guessEncoding(bytes) } : { text };
}

/** Returns the text without its mark, or `null` if the bytes are not in the encoding. */
export function decodeAs(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** First bytes of workbooks: of ZIP, which .xlsx and .ods are, and of .xls. */
const WORKBOOKS: readonly (readonly number[])[] = [[0x50, 0x4b, 0x03, 0x04], [0xd0, 0xcf, 0x11, 0xe0]];

/** Whether a file is a workbook of a spreadsheet program, which has no encoding in which it reads right. */
export function isWorkbook(bytes: Uint8Array): boolean {
  return WORKBOOKS.some((first) => first.every((byte, index) => bytes[index] === byte));
}

const SAMPLE = 64 * 1_024;
/** Letters of Russian and Kazakh in the order of how often they are in a text; capitals inside words are rare. */
const COMMON = /[оеаинтсрвлкмдпуыяьгбчйжхшюзцщэфъё әіңғүұқөһ]/g;
const LATIN = /[äöüßéèêàçñáíóúâîôûëïãõåøæ]/gi;
const UNLIKELY = /[\u0080-\u009f\u2500-\u259f\ufffd]|[а-яё][А-ЯЁ]|[¤¦§¨©«¬®°±²³µ¶·¹»¼½¾]{2}/g;

function score(text: string): number {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return count(COMMON) + count(LATIN) - 4 * count(UNLIKELY);
}

/** Returns the encoding in which the text reads most like a language; windows-1251 of equals. */
export function guessEncoding(bytes: Uint8Array): Encoding {
  // Only what is not ASCII tells encodings apart, and a long file may begin with much of that.
  const first = Math.max(0, bytes.findIndex((byte) => byte >= 0x80));
  const sample = bytes.subarray(first, first + SAMPLE);
  const scored = ENCODINGS.filter((name) => name !== 'utf-16le').map((name) => ({ name, points: score((decodeAs(sample, name) ?? '\u0080'.repeat(sample.length)).replace(/[\0-\x7f]+/g, ' ')) }));
  return scored.reduce((best, one) => (one.points > best.points ? one : best)).name;
}
