// The filters of the address, as chips that one can change.

import { useState } from 'preact/hooks';
import { navigate, path, query } from '#frame';
import { Button, Dialog, Icon, Select, TextField, openDialog } from '#ui';
import type { Column } from './cells';
import { conditionsOf, filterText, needsValue, operatorsOf, queryOf, type Condition, type Filter, type Operator, type Order } from './filters';
import { t } from './messages';

function go(conditions: readonly Pick<Condition, 'name' | 'text'>[], order: string | null): void {
  const text = queryOf(conditions, order);
  void navigate(text === '' ? path.peek() : `${path.peek()}?${text}`);
}

export function setOrder(order: Order | null): void {
  go(conditionsOf(query.peek()), order === null ? null : order.isDescending ? `${order.column}.desc` : order.column);
}

/** Adds a filter, or puts it in the place of another one. */
export function putFilter(filter: Filter, replaced: Condition | null): void {
  const conditions = conditionsOf(query.peek());
  const next = { name: filter.column, text: filterText(filter) };
  const index = replaced === null ? -1 : conditions.findIndex(({ name, text }) => name === replaced.name && text === replaced.text);
  go(index < 0 ? [...conditions, next] : conditions.toSpliced(index, 1, { ...next, filter }), query.peek().get('order'));
}

function removeCondition(removed: Condition): void {
  go(conditionsOf(query.peek()).filter(({ name, text }) => name !== removed.name || text !== removed.text), query.peek().get('order'));
}

export function clearConditions(): void {
  go([], query.peek().get('order'));
}

/** Asks for a filter on a column. */
export async function askFilter(columns: readonly Column[], column: string, replaced: Condition | null = null): Promise<void> {
  const type = columns.find(({ name }) => name === column)?.type ?? 'text';
  const initial = replaced?.filter ?? { column, operator: operatorsOf(type)[0] ?? 'eq', value: '' };
  const filter = await openDialog<Filter>((close) => <FilterDialog columns={columns} initial={initial} close={close} />);
  if (filter) putFilter(filter, replaced);
}

function FilterDialog({ columns, initial, close }: { columns: readonly Column[]; initial: Filter; close: (filter?: Filter) => void }) {
  const [{ column, operator, value }, setFilter] = useState(initial);
  const type = columns.find(({ name }) => name === column)?.type ?? 'text';
  const operators = operatorsOf(type);
  const setColumn = (name: string) => {
    const next = operatorsOf(columns.find((other) => other.name === name)?.type ?? 'text');
    setFilter({ column: name, operator: next.includes(operator) ? operator : (next[0] ?? 'eq'), value });
  };
  const unavailable = needsValue(operator) && value === '' && type !== 'text' ? t('filterValueFirst') : null;
  const submit = (event: Event) => {
    event.preventDefault();
    if (unavailable === null) close({ column, operator, value: needsValue(operator) ? value : '' });
  };
  return (
    <Dialog title={t('filter')} onClose={() => close()} actions={<Button type="submit" form="data-filter" variant="primary" unavailable={unavailable}>{t('applyFilter')}</Button>}>
      <form id="data-filter" onSubmit={submit}>
        <div class="data-filter-parts">
          <Select label={t('column')} value={column} options={columns.map(({ name }) => ({ value: name, label: name }))} onChange={setColumn} />
          <Select<Operator> label={t('operator')} value={operator} options={operators.map((one) => ({ value: one, label: t(`op_${one}`) }))} onChange={(next) => setFilter({ column, operator: next, value })} />
        </div>
        {needsValue(operator) && (
          <TextField
            label={t('value')} value={value} onInput={(next) => setFilter({ column, operator, value: next })} autofocus autocomplete="off" spellcheck={false}
            hint={operator === 'in' ? t('inHint') : operator === 'imatch' ? t('matchHint') : operator === 'cs' ? t('containsHint', { example: '{"a": 1}' }) : type === 'timestamp' ? t('timestampHint') : undefined}
          />
        )}
      </form>
    </Dialog>
  );
}

export function Conditions({ columns }: { columns: readonly Column[] }) {
  const conditions = conditionsOf(query.value);
  return (
    <div class="data-conditions" role="group" aria-label={t('filters')}>
      <Button size="small" icon="filter" command="grid.filter" onClick={() => void askFilter(columns, columns[0]?.name ?? 'id')}>{t('filter')}</Button>
      {conditions.map((condition) => <Chip key={`${condition.name} ${condition.text}`} condition={condition} columns={columns} />)}
      {conditions.length > 1 && <Button variant="plain" size="small" onClick={clearConditions}>{t('clearFilters')}</Button>}
    </div>
  );
}

function chipText({ column, operator, value }: Filter) {
  const parts = { column: <b>{column}</b>, operator: t(`op_${operator}`) };
  return needsValue(operator) ? t.rich('chip', { ...parts, value: <code>{value === '' ? '""' : value}</code> }) : t.rich('chipPlain', parts);
}

function Chip({ condition, columns }: { condition: Condition; columns: readonly Column[] }) {
  const { filter, name, text } = condition;
  const isKnown = filter !== null && columns.some((column) => column.name === name);
  return (
    <span class="data-chip">
      {isKnown
        ? <button type="button" onClick={() => void askFilter(columns, name, condition)}>{chipText(filter)}</button>
        : <span title={t('otherCondition')}><code>{`${name}=${text}`}</code></span>}
      <button type="button" class="icon-button" aria-label={t('removeFilter')} onClick={() => removeCondition(condition)}><Icon name="cross" /></button>
    </span>
  );
}
