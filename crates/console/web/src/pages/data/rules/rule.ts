// Rules as a person edits them: a draft for each, and what is wrong with it.

import type { Schemas } from '#api/types';

export type Rule = Schemas['Rule'];
export type Action = Schemas['Action'];
export type Audience = Schemas['Audience'];
export type Condition = Schemas['Condition'];
export type Simple = Extract<Condition, { t: 'cmp' | 'in' | 'null' }>;
export type Column = Schemas['Column'];

export const ACTIONS: readonly Action[] = ['read', 'insert', 'update', 'delete'];
export const MAX_RULES = 16;

/** Conditions as alternatives, each of which has several that must all hold; empty for every row. */
export type Groups = readonly (readonly Simple[])[];

/** Returns a condition as alternatives, or `null` if it nests deeper than the menus can show. */
export function groupsOf(condition: Condition): Groups | null {
  switch (condition.t) {
    case 'all': return [];
    case 'and': {
      const simple = condition.of.filter(isSimple);
      return simple.length === condition.of.length ? [simple] : null;
    }
    case 'or': {
      const groups = condition.of.map((one) => (one.t === 'and' ? one.of.filter(isSimple) : isSimple(one) ? [one] : []));
      const isWhole = condition.of.every((one, index) => (one.t === 'and' ? one.of.length === groups[index]?.length : isSimple(one)));
      return isWhole ? groups : null;
    }
    default: return [[condition]];
  }
}

function isSimple(condition: Condition): condition is Simple {
  return condition.t === 'cmp' || condition.t === 'in' || condition.t === 'null';
}

/** Returns alternatives as a condition. */
export function conditionOf(groups: Groups): Condition {
  const alternatives = groups.filter((group) => group.length > 0).map((group): Condition => {
    const [first, ...rest] = group;
    return first !== undefined && rest.length === 0 ? first : { t: 'and', of: [...group] };
  });
  const [first, ...rest] = alternatives;
  if (first === undefined) return { t: 'all' };
  return rest.length === 0 ? first : { t: 'or', of: alternatives };
}

/** Returns a rule that is new, with an id that no other has. */
export function newRule(rules: readonly Rule[]): Rule {
  let number = rules.length + 1;
  while (rules.some(({ id }) => id === `rule_${number}`)) number += 1;
  return { id: `rule_${number}`, audience: { kind: 'signed_in' }, actions: ['read'], where: { t: 'all' }, columns: null };
}

/** Returns a condition to begin with on a column. */
export function conditionOn(column: Column): Simple {
  if (column.type === 'json') return { t: 'null', column: column.name, isNull: false };
  const value = column.type === 'text' ? { k: 'me' as const } : { k: 'lit' as const, v: column.type === 'boolean' ? true : 0 };
  return { t: 'cmp', column: column.name, op: 'eq', value: column.type === 'timestamp' ? { k: 'lit', v: '2026-01-01T00:00:00Z' } : value };
}

/** What makes a rule wider than what it replaces; a person is asked before it is saved. */
export function opensToAnyone(before: readonly Rule[], after: readonly Rule[]): readonly Rule[] {
  const isOpen = ({ audience, where }: Rule) => (audience.kind === 'anyone' || audience.kind === 'visitors') && where.t === 'all';
  return after.filter((rule) => isOpen(rule) && !before.some((old) => isOpen(old) && isCovered(rule, old)));
}

function isCovered(rule: Rule, by: Rule): boolean {
  const columns = by.columns === null || (rule.columns !== null && rule.columns.every((name) => by.columns?.includes(name)));
  return columns && rule.actions.every((action) => by.actions.includes(action)) && (by.audience.kind === 'anyone' || rule.audience.kind === by.audience.kind);
}

/** Whether two rules say the same, whatever their sentences. */
export function isSameRule(a: Rule, b: Rule): boolean {
  const { sentence: _a, migrated: _b, ...first } = a;
  const { sentence: _c, migrated: _d, ...second } = b;
  return JSON.stringify(sorted(first)) === JSON.stringify(sorted(second));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]));
}

/** Whether a value has a whole number that JavaScript may have rounded. */
export function hasLongNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongNumber);
}
