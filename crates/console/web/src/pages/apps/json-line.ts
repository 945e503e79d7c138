// Where a member is in a text of JSON.

/** Splits `permissions.egress[0].host` into its names and indices. */
function segmentsOf(path: string): readonly string[] {
  return path.split(/[.[\]]+/).filter((segment) => segment !== '');
}

/** Reads JSON that is known to be valid, and remembers where values begin. */
class Scanner {
  private at = 0;
  /** Offsets of values by their paths, joined with `.`. */
  readonly offsets = new Map<string, number>();

  constructor(private readonly text: string) {}

  value(path: readonly string[]): void {
    this.space();
    this.offsets.set(path.join('.'), this.at);
    const first = this.text[this.at];
    if (first === '{') this.object(path);
    else if (first === '[') this.array(path);
    else if (first === '"') this.string();
    else while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at] ?? '')) this.at += 1;
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? '')) this.at += 1;
  }

  private string(): string {
    const from = this.at;
    for (this.at += 1; this.at < this.text.length && this.text[this.at] !== '"'; this.at += 1) if (this.text[this.at] === '\\') this.at += 1;
    this.at += 1;
    return JSON.parse(this.text.slice(from, this.at)) as string;
  }

  private object(path: readonly string[]): void {
    this.members('}', () => {
      const at = this.at;
      const name = this.string();
      this.space();
      this.at += 1;
      this.value([...path, name]);
      this.offsets.set([...path, name].join('.'), at);
    });
  }

  private array(path: readonly string[]): void {
    let index = 0;
    this.members(']', () => this.value([...path, String(index++)]));
  }

  private members(end: string, read: () => void): void {
    this.at += 1;
    for (this.space(); this.at < this.text.length && this.text[this.at] !== end; this.space()) {
      if (this.text[this.at] === ',') this.at += 1;
      else read();
    }
    this.at += 1;
  }
}

/** Returns the line, counted from 1, of the member at `path`, or of the closest one around it. */
export function lineOfMember(text: string, path: string): number {
  const scanner = new Scanner(text);
  try {
    JSON.parse(text);
    scanner.value([]);
  } catch {
    return 1;
  }
  const segments = [...segmentsOf(path)];
  while (segments.length > 0 && !scanner.offsets.has(segments.join('.'))) segments.pop();
  const offset = scanner.offsets.get(segments.join('.')) ?? 0;
  return text.slice(0, offset).split('\n').length;
}
