// The text of JSON. Its numbers may have more digits than those of JavaScript, so what only lays a text out does not parse them.

/** Strings, numbers, words and signs of a text that is known to be valid. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[a-z]+|[[\]{},:]/g;

function isKept(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  return !/^-?\d+$/.test(token) || BigInt(token) === BigInt(value);
}

const isNumber = (token: string) => /^[-\d]/.test(token);

/** Returns the first number of a valid text that JavaScript makes another one: a whole number that it rounds, or one out of its range. */
export function changedNumber(text: string): string | null {
  for (const [token] of text.matchAll(TOKEN)) if (isNumber(token) && !isKept(token)) return token;
  return null;
}

/** Returns the value of a text, with texts that no document can have in place of numbers that JavaScript would change. */
export function comparableJson(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (isNumber(token) && !isKept(token) ? JSON.stringify(`\0${token}`) : token)));
}

/** Returns a valid text on several lines, with its strings and numbers as they are. */
export function formatJson(text: string): string {
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  const newLine = () => `\n${'  '.repeat(depth)}`;
  return tokens.map((token, index) => {
    switch (token) {
      case '{': case '[':
        depth += 1;
        return /^[}\]]/.test(tokens[index + 1] ?? '') ? token : `${token}${newLine()}`;
      case '}': case ']':
        depth -= 1;
        return /^[{[]/.test(tokens[index - 1] ?? '') ? token : `${newLine()}${token}`;
      case ',': return `,${newLine()}`;
      case ':': return ': ';
      default: return token;
    }
  }).join('');
}

/** Returns a valid text as short as it can be, with its numbers as they are. */
export function minifyJson(text: string): string {
  return (text.match(TOKEN) ?? []).map((token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token)).join('');
}
