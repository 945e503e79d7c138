// The lines of one function in a module.

export interface FunctionLines {
  /** Number of the first line, from 1. */
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

/** What can begin at the top of a module, which ends the function before it. */
const TOP = /^(?:\/\*\*|\/\/|(?:export |async )*function\b|(?:const|let|var|export|class|import)\b)/;

/** Finds a function at the top of a module, with the comment above it. */
export function functionLines(module: string, name: string): FunctionLines | null {
  const lines = module.split('\n');
  const head = lines.findIndex((line) => /^(?:export )?(?:async )?function\*? *([\w$]+)/.exec(line)?.[1] === name);
  if (head < 0) return null;
  const after = lines.findIndex((line, index) => index > head && TOP.test(line));
  const end = after < 0 ? lines.length : after;
  // A text in the function may have a line that is a brace too.
  const brace = lines.findLastIndex((line, index) => index >= head && index < end && line.startsWith('}'));
  const last = brace < 0 ? head : brace;
  const first = commentAbove(lines, head);
  return { first: first + 1, last: last + 1, text: lines.slice(first, last + 1).join('\n') };
}

function commentAbove(lines: readonly string[], head: number): number {
  if (!lines[head - 1]?.trimEnd().endsWith('*/')) return head;
  const first = lines.findLastIndex((line, index) => index < head && line.startsWith('/**'));
  return first < 0 ? head : first;
}
