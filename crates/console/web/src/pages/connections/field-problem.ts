// What the server says about one field of a form.

import type { Problem } from '#api/problem';
import { t } from './messages';

export interface FieldProblem {
  /** Name of the field as the request has it: `auth.name`. */
  readonly field: string;
  readonly text: string;
}

/** Reasons of the server that have words of our own; of any other, its sentence is shown. */
const REASONS: readonly (readonly [pattern: RegExp, text: (found: RegExpExecArray) => string])[] = [
  [/^is required again/, () => t('secretAgain')],
  [/^is required$/, () => t('required')],
  [/^must have (\d+) to (\d+) characters$/, ([, min, max]) => t('length', { min: Number(min), max: Number(max) })],
  [/^must have 1 to \d+ items$/, () => t('required')],
  [/^is not a URL that begins with https:/, () => t('notHttps')],
  [/^must begin with \/$/, () => t('notPath')],
  [/^must be under the path prefix$/, () => t('outsidePrefix')],
  [/^is not a host name$/, () => t('notHost')],
];

/** Returns the field that a refusal names: “`auth.name` is required”. */
export function fieldProblem(problem: Problem | null): FieldProblem | null {
  const found = problem?.status === 400 ? /^`([\w.]+)[^`]*` (.+)$/.exec(problem.message) : null;
  if (!found) return null;
  const [, field = '', reason = ''] = found;
  for (const [pattern, text] of REASONS) {
    const match = pattern.exec(reason);
    if (match) return { field, text: text(match) };
  }
  return { field, text: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${reason.endsWith('.') ? '' : '.'}` };
}
