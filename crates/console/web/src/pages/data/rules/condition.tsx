// One condition of a rule: in words, and as a dialog.

import { useState } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { Button, Dialog, Select, TextField, openDialog } from '#ui';
import { parseCell, type ColumnType } from '../grid/cells';
import { t as grid } from '../grid/messages';
import { t } from './messages';
import type { Column, Simple } from './rule';

type Operand = Schemas['Operand'];
type Scalar = Schemas['Scalar'];
type Relation = Schemas['Comparison'] | 'in' | 'null' | 'notnull';
type Against = 'lit' | 'me' | 'claim';

function scalarText(value: Scalar): string {
  return typeof value === 'string' ? `“${value}”` : String(value);
}

function operandText(operand: Operand): string {
  switch (operand.k) {
    case 'lit': return scalarText(operand.v);
    case 'me': return t('thePerson');
    case 'claim': return t('theirClaim', { name: operand.name });
  }
}

export function conditionText(condition: Simple): string {
  switch (condition.t) {
    case 'null': return t(condition.isNull ? 'isNull' : 'isNotNull', { column: condition.column });
    case 'in': return t('isOneOf', { column: condition.column, values: condition.values.map(scalarText).join(', ') });
    case 'cmp': return t(`is_${condition.op}`, { column: condition.column, value: operandText(condition.value) });
  }
}

/** Asks for a condition, beginning with another one. */
export async function askCondition(columns: readonly Column[], initial: Simple): Promise<Simple | undefined> {
  return openDialog<Simple>((close) => <ConditionDialog columns={columns} initial={initial} close={close} />);
}

interface Draft {
  readonly column: string;
  readonly relation: Relation;
  readonly against: Against;
  readonly text: string;
}

function draftOf(condition: Simple): Draft {
  const { column } = condition;
  if (condition.t === 'null') return { column, relation: condition.isNull ? 'null' : 'notnull', against: 'lit', text: '' };
  if (condition.t === 'in') return { column, relation: 'in', against: 'lit', text: condition.values.map(String).join(', ') };
  const { value } = condition;
  return { column, relation: condition.op, against: value.k, text: value.k === 'lit' ? String(value.v) : value.k === 'claim' ? value.name : '' };
}

function scalarOf(type: ColumnType, text: string): Scalar | null {
  const parsed = parseCell({ type, nullable: false }, text);
  if ('problem' in parsed || parsed.cell === null) return null;
  if (type === 'boolean') return parsed.cell === 'true';
  // It would be sent as another one.
  if (type === 'integer' && !Number.isSafeInteger(Number(parsed.cell))) return null;
  return type === 'integer' || type === 'real' ? Number(parsed.cell) : parsed.cell;
}

const CLAIM = /^[a-z][a-z0-9_-]{0,31}$/;
const MAX_VALUES = 20;

function read({ column, relation, against, text }: Draft, type: ColumnType): Simple | null {
  if (relation === 'null' || relation === 'notnull') return { t: 'null', column, isNull: relation === 'null' };
  if (relation === 'in') {
    const values = text.split(',').map((one) => one.trim()).filter((one) => one !== '').map((one) => scalarOf(type, one));
    const whole = values.filter((value) => value !== null);
    return whole.length === values.length && whole.length > 0 && whole.length <= MAX_VALUES ? { t: 'in', column, values: whole } : null;
  }
  if (against === 'me') return { t: 'cmp', column, op: relation, value: { k: 'me' } };
  if (against === 'claim') return CLAIM.test(text) ? { t: 'cmp', column, op: relation, value: { k: 'claim', name: text } } : null;
  const value = scalarOf(type, text);
  return value === null ? null : { t: 'cmp', column, op: relation, value: { k: 'lit', v: value } };
}

/** Whether the text has a whole number that would be rounded. */
function hasTooLong(type: ColumnType, text: string): boolean {
  return type === 'integer' && text.split(',').some((one) => 'cell' in parseCell({ type, nullable: false }, one) && scalarOf(type, one) === null);
}

function relationsOf(type: ColumnType): readonly Relation[] {
  if (type === 'json') return ['null', 'notnull'];
  if (type === 'boolean') return ['eq', 'neq', 'null', 'notnull'];
  return ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'null', 'notnull'];
}

function ConditionDialog({ columns, initial, close }: { columns: readonly Column[]; initial: Simple; close: (condition?: Simple) => void }) {
  const [draft, setDraft] = useState(draftOf(initial));
  const type = columns.find(({ name }) => name === draft.column)?.type ?? 'text';
  const relations = relationsOf(type);
  const condition = read(draft, type);
  const isAlone = draft.relation === 'null' || draft.relation === 'notnull';
  const canBePerson = draft.relation === 'eq' || draft.relation === 'neq';
  const setColumn = (column: string) => {
    const next = columns.find(({ name }) => name === column)?.type ?? 'text';
    const relation = relationsOf(next).includes(draft.relation) ? draft.relation : (relationsOf(next)[0] ?? 'eq');
    setDraft({ ...draft, column, relation, against: next === 'text' ? draft.against : 'lit' });
  };
  const againsts: readonly Against[] = canBePerson && type === 'text' ? ['me', 'claim', 'lit'] : ['lit', 'claim'];
  const against = againsts.includes(draft.against) ? draft.against : 'lit';
  return (
    <Dialog title={t('condition')} onClose={() => close()} actions={<Button type="submit" form="data-condition" variant="primary" unavailable={condition !== null ? null : hasTooLong(type, draft.text) ? t('longNumber') : t('valueFirst')}>{t('useCondition')}</Button>}>
      <form id="data-condition" onSubmit={(event) => { event.preventDefault(); if (condition) close(condition); }}>
        <div class="data-filter-parts">
          <Select label={t('column')} value={draft.column} options={columns.map(({ name }) => ({ value: name, label: name }))} onChange={setColumn} />
          <Select<Relation> label={t('relation')} value={draft.relation} options={relations.map((one) => ({ value: one, label: grid(`op_${one}`) }))} onChange={(relation) => setDraft({ ...draft, relation })} />
        </div>
        {!isAlone && draft.relation !== 'in' && <Select<Against> label={t('comparedTo')} value={against} options={againsts.map((one) => ({ value: one, label: t(`against_${one}`) }))} onChange={(next) => setDraft({ ...draft, against: next, text: '' })} />}
        {!isAlone && (against !== 'me' || draft.relation === 'in') && (
          <TextField
            label={against === 'claim' && draft.relation !== 'in' ? t('claim') : t('value')} hint={draft.relation === 'in' ? t('inHint') : against === 'claim' ? t('claimHint') : undefined}
            value={draft.text} onInput={(text) => setDraft({ ...draft, text })} autocomplete="off" spellcheck={false}
          />
        )}
      </form>
    </Dialog>
  );
}
