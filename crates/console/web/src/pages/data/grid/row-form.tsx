// The cells of one row as fields, each by the type of its column.

import { Checkbox, Code, Field, TextArea, TextField } from '#ui';
import type { Schemas } from '#api/types';
import type { Cell, CellProblem, Cells } from './cells';
import { formatted } from './document-editor';
import { t } from './messages';
import type { Draft } from './row-edit';
import { TypeIcon, typeText } from './type-icon';

type Column = Schemas['Column'];

interface RowFormProps {
  readonly columns: readonly Column[];
  readonly draft: Draft;
  /** What the columns hold that the draft leaves out. */
  readonly saved?: Cells;
  readonly problems: Readonly<Record<string, CellProblem>>;
  readonly onChange: (draft: Draft) => void;
  /** Whether columns may be left out, so that they get their defaults. */
  readonly isNew: boolean;
  readonly isReadOnly?: boolean;
}

export function RowForm({ columns, draft, saved = {}, problems, onChange, isNew, isReadOnly = false }: RowFormProps) {
  const shown = { ...saved, ...draft };
  const set = (name: string, cell: Cell | undefined) => {
    const { [name]: _, ...rest } = draft;
    onChange(cell === undefined ? rest : { ...rest, [name]: cell });
  };
  return (
    <>
      {columns.map((column) => {
        const problem = problems[column.name];
        return (
          <div key={column.name} class="data-field">
            <CellField column={column} cell={shown[column.name]} error={problem === undefined ? null : t(`problem_${problem}`)} isNew={isNew} isReadOnly={isReadOnly} onChange={(cell) => set(column.name, cell)} />
            {column.nullable && !isReadOnly && (
              <Checkbox label={t('isNull', { name: column.name })} checked={shown[column.name] === null} onChange={(isNull) => set(column.name, isNull ? null : isNew ? undefined : '')} />
            )}
          </div>
        );
      })}
    </>
  );
}

interface CellFieldProps {
  readonly column: Column;
  readonly cell: Cell | undefined;
  readonly error: string | null;
  readonly isNew: boolean;
  readonly isReadOnly: boolean;
  readonly onChange: (cell: Cell | undefined) => void;
}

function CellField({ column, cell, error, isNew, isReadOnly, onChange }: CellFieldProps) {
  const { name, type, default: byDefault } = column;
  const extra = !isNew ? null : byDefault !== undefined ? t('hasDefault', { value: JSON.stringify(byDefault) }) : name === 'id' ? t('generated') : null;
  const hint = <span class="data-field-hint"><TypeIcon type={type} />{typeText(type)}{extra !== null && ` · ${extra}`}</span>;
  const shown = type === 'timestamp' ? (cell ?? '').replace(/\.0+Z$/, 'Z') : (cell ?? '');
  const placeholder = cell === null ? 'null' : cell === '' && type === 'text' ? t('emptyText') : undefined;
  const shared = { label: name, hint, error, value: shown, readonly: isReadOnly, spellcheck: type === 'text', ...(placeholder === undefined ? {} : { placeholder }), onInput: (value: string) => onChange(value === '' && isNew ? undefined : value) };
  if (type === 'boolean') {
    return (
      <Field label={name} hint={hint} error={error}>
        {(attributes) => (
          <select class="input select" {...attributes} disabled={isReadOnly || cell === null} value={shown} onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}>
            {(isNew || cell === null || cell === undefined) && <option value="">{cell === null ? 'null' : t('leaveOut')}</option>}
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        )}
      </Field>
    );
  }
  if (type === 'json') {
    return (
      <div class="field">
        <span class="data-field-label">{name}</span>
        <Code label={name} language="json" height="short" value={formatted(cell ?? null)} onChange={isReadOnly ? undefined : (value) => onChange(value.trim() === '' ? (isNew ? undefined : null) : value)} />
        <p class="field-hint">{hint}</p>
        {error && <p class="field-error" role="alert">{error}</p>}
      </div>
    );
  }
  if (type === 'text') return <TextArea {...shared} rows={1} />;
  return <TextField {...shared} inputmode={type === 'integer' ? 'numeric' : type === 'real' ? 'decimal' : 'text'} autocomplete="off" />;
}
