// The definition of a column as fields.

import type { Schemas } from '#api/types';
import { Button, Checkbox, Select, TextField } from '#ui';
import { changedNumber } from '#ui/json-text';
import { parseCell, type ColumnType } from '../grid/cells';
import { typeText } from '../grid/type-icon';
import { t } from '../messages';
import { columnNameProblem } from './names';

export const COLUMN_TYPES: readonly ColumnType[] = ['text', 'integer', 'real', 'boolean', 'timestamp', 'json'];

export interface ColumnDraft {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** As it is typed; `null` for none. */
  readonly byDefault: string | null;
}

export const EMPTY_COLUMN: ColumnDraft = { name: '', type: 'text', nullable: true, byDefault: null };

type Result = { readonly column: Schemas['NewColumn'] } | { readonly problem: { readonly field: 'name' | 'default'; readonly text: string } };

/** Returns the column to create, or what is wrong with it. `others` has the column itself too. */
export function readColumn({ name, type, nullable, byDefault }: ColumnDraft, others: readonly { readonly name: string }[]): Result {
  const isTwice = others.filter((other) => other.name === name).length > 1;
  const problem = columnNameProblem(name, isTwice ? [name] : []);
  if (problem !== null) return { problem: { field: 'name', text: t(`name_${problem}`) } };
  if (byDefault === null) return { column: { name, type, nullable } };
  const parsed = parseCell({ type, nullable: false }, byDefault);
  if ('problem' in parsed) return { problem: { field: 'default', text: t('defaultWrong') } };
  const number = type === 'json' ? changedNumber(parsed.cell ?? '') : null;
  if (number !== null) return { problem: { field: 'default', text: t('defaultRounded', { number }) } };
  return { column: { name, type, nullable, default: valueOf(type, parsed.cell ?? '') as never } };
}

function valueOf(type: ColumnType, cell: string): unknown {
  if (type === 'json') return JSON.parse(cell);
  if (type === 'boolean') return cell === 'true';
  if (type === 'real') return Number(cell);
  // A number of 64 bits is sent as text, which the server takes too.
  return type === 'integer' && Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
}

interface ColumnFieldsProps {
  readonly draft: ColumnDraft;
  readonly problem: { readonly field: 'name' | 'default'; readonly text: string } | null;
  readonly onChange: (draft: ColumnDraft) => void;
  readonly onRemove: (() => void) | null;
}

export function ColumnFields({ draft, problem, onChange, onRemove }: ColumnFieldsProps) {
  const error = (field: 'name' | 'default') => (problem?.field === field ? problem.text : null);
  return (
    <div class="data-column-fields" role="group" aria-label={draft.name === '' ? t('column') : draft.name}>
      <TextField label={t('columnName')} value={draft.name} onInput={(name) => onChange({ ...draft, name })} error={error('name')} maxlength={63} autocomplete="off" spellcheck={false} />
      <Select<ColumnType> label={t('type')} value={draft.type} options={COLUMN_TYPES.map((type) => ({ value: type, label: typeText(type) }))} onChange={(type) => onChange({ ...draft, type })} />
      {draft.type === 'boolean'
        ? <Select label={t('default')} value={draft.byDefault ?? ''} options={[{ value: '', label: t('noDefault') }, { value: 'true', label: 'true' }, { value: 'false', label: 'false' }]} onChange={(value) => onChange({ ...draft, byDefault: value === '' ? null : value })} />
        : <TextField label={t('default')} value={draft.byDefault ?? ''} onInput={(value) => onChange({ ...draft, byDefault: value === '' ? null : value })} error={error('default')} placeholder={t('noDefault')} autocomplete="off" spellcheck={false} />}
      <Checkbox label={t('mayBeNull')} checked={draft.nullable} onChange={(nullable) => onChange({ ...draft, nullable })} />
      {onRemove && <Button variant="plain" icon="trash" label={t('removeColumn')} onClick={onRemove} />}
    </div>
  );
}
