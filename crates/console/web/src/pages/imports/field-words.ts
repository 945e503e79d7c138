// What the server says about the export and the name, in the person's language.

import type { Problem } from '#api/problem';
import { fieldProblem } from '../connections/field-problem';
import { t } from './messages';

const FIELDS = ['source', 'name'] as const;
export type FieldName = (typeof FIELDS)[number];

/** Returns what is wrong with a field, by its name, or `null` if the problem is about none of the form's. */
export function fieldErrorOf(problem: Problem | null): { readonly field: FieldName; readonly text: string } | null {
  const found = fieldProblem(problem);
  const field = FIELDS.find((name) => name === found?.field);
  if (problem === null || found === null || field === undefined) return null;
  return { field, text: (field === 'source' ? sourceText(problem.message) : null) ?? found.text };
}

function sourceText(message: string): string | null {
  const place = /line (\d+), column (\d+)/.exec(message);
  if (message.includes('is not JSON')) return place ? t('notJsonAt', { line: Number(place[1]), column: Number(place[2]) }) : t('notJson');
  return message.includes('is no workflow') ? t('noWorkflow') : null;
}
