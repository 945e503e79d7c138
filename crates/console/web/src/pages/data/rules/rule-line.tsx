// One rule as a line whose parts are menus.

import type { Schemas } from '#api/types';
import { Button, Icon, Menu, Status, type MenuItems } from '#ui';
import { askCondition, conditionText } from './condition';
import { t } from './messages';
import { askRole } from './role';
import { ACTIONS, conditionOf, conditionOn, groupsOf, type Action, type Audience, type Column, type Groups, type Rule, type Simple } from './rule';

interface RuleLineProps {
  readonly rule: Rule;
  readonly columns: readonly Column[];
  readonly isReadOnly: boolean;
  /** What the last test said about the rule. */
  readonly verdict: Schemas['TriedRule'] | undefined;
  readonly isDeciding: boolean;
  readonly onChange: (rule: Rule | null) => void;
}

export function RuleLine({ rule, columns, isReadOnly, verdict, isDeciding, onChange }: RuleLineProps) {
  const groups = groupsOf(rule.where);
  return (
    <li class={`data-rule ${isDeciding ? 'is-deciding' : ''}`} aria-label={rule.sentence ?? rule.id}>
      <div class="data-rule-line">
        {t.rich('line', {
          audience: <Part text={audienceText(rule.audience)} items={audienceItems(rule, onChange)} isReadOnly={isReadOnly} />,
          actions: <Part text={actionsText(rule.actions)} items={actionItems(rule, onChange)} isReadOnly={isReadOnly} />,
          columns: <Part text={rule.columns === null ? t('allColumns') : rule.columns.join(', ')} items={columnItems(rule, columns, onChange)} isReadOnly={isReadOnly} />,
          rows: <Where groups={groups} columns={columns} isReadOnly={isReadOnly} onChange={(next) => onChange({ ...rule, where: conditionOf(next) })} />,
        })}
        {!isReadOnly && <span class="data-rule-remove"><Button variant="plain" size="small" icon="trash" label={t('removeRule')} onClick={() => onChange(null)} /></span>}
      </div>
      {rule.sentence !== undefined && <p class="data-rule-sentence" lang="en">{rule.sentence}</p>}
      {isDeciding && <Status tone="ok" icon="check">{t('decides')}</Status>}
      {verdict && !isDeciding && <p class="muted data-note">{verdict.reason ?? (verdict.matched === null ? t('doesNotApply') : t('matches', { count: verdict.matched }))}</p>}
    </li>
  );
}

function Part({ text, items, isReadOnly }: { text: string; items: MenuItems; isReadOnly: boolean }) {
  if (isReadOnly) return <b>{text}</b>;
  return <Menu items={items} trigger={(attributes) => <button type="button" class="data-part" {...attributes}>{text}<Icon name="down" /></button>} />;
}

export function audienceText(audience: Audience): string {
  return audience.kind === 'role' ? t('who_role', { role: audience.role }) : t(`who_${audience.kind}`);
}

function audienceItems(rule: Rule, onChange: (rule: Rule) => void): MenuItems {
  const kinds = ['anyone', 'visitors', 'signed_in'] as const;
  const withRole = async () => {
    const role = await askRole(rule.audience.kind === 'role' ? rule.audience.role : '');
    if (role !== undefined) onChange({ ...rule, audience: { kind: 'role', role } });
  };
  return [
    ...kinds.map((kind) => ({ label: t(`who_${kind}`), checked: rule.audience.kind === kind, onSelect: () => onChange({ ...rule, audience: { kind } }) })),
    { label: t('whoRole'), checked: rule.audience.kind === 'role', onSelect: () => void withRole() },
  ];
}

function actionsText(actions: readonly Action[]): string {
  return actions.length === 0 ? t('nothing') : ACTIONS.filter((action) => actions.includes(action)).map((action) => t(`do_${action}`)).join(', ');
}

function actionItems(rule: Rule, onChange: (rule: Rule) => void): MenuItems {
  return ACTIONS.map((action) => {
    const isOn = rule.actions.includes(action);
    const toggled = isOn ? rule.actions.filter((other) => other !== action) : ACTIONS.filter((other) => other === action || rule.actions.includes(other));
    return { label: t(`do_${action}`), checked: isOn, onSelect: () => onChange({ ...rule, actions: toggled }) };
  });
}

function columnItems(rule: Rule, columns: readonly Column[], onChange: (rule: Rule) => void): MenuItems {
  const chosen = rule.columns;
  const toggle = (name: string) => {
    const next = chosen === null ? [name] : chosen.includes(name) ? chosen.filter((other) => other !== name) : columns.map((column) => column.name).filter((other) => other === name || chosen.includes(other));
    onChange({ ...rule, columns: next.length === 0 ? null : next });
  };
  return [
    { label: t('allColumns'), checked: chosen === null, onSelect: () => onChange({ ...rule, columns: null }) },
    null,
    ...columns.map(({ name }) => ({ label: name, checked: chosen?.includes(name) ?? false, onSelect: () => toggle(name) })),
  ];
}

interface WhereProps {
  readonly groups: Groups | null;
  readonly columns: readonly Column[];
  readonly isReadOnly: boolean;
  readonly onChange: (groups: Groups) => void;
}

/** The condition of a rule: alternatives of conditions that must all hold. */
function Where({ groups, columns, isReadOnly, onChange }: WhereProps) {
  if (groups === null) return <span class="muted">{t('deepCondition')}</span>;
  const change = (group: number, index: number, next: Simple | null) => {
    const conditions = groups[group] ?? [];
    onChange(groups.with(group, next === null ? conditions.toSpliced(index, 1) : conditions.with(index, next)).filter((one) => one.length > 0));
  };
  const first = columns.find(({ system, type }) => !system && type !== 'json') ?? columns[0];
  const ask = async (place: (condition: Simple) => Groups) => {
    const condition = first && await askCondition(columns, conditionOn(first));
    if (condition) onChange(place(condition));
  };
  const edit = async (group: number, index: number, condition: Simple) => {
    const next = await askCondition(columns, condition);
    if (next) change(group, index, next);
  };
  const addToLast = (condition: Simple): Groups => (groups.length === 0 ? [[condition]] : groups.with(-1, [...(groups.at(-1) ?? []), condition]));
  return (
    <span class="data-where">
      {groups.length === 0 && <b>{t('everyRow')}</b>}
      {groups.map((group, groupIndex) => group.map((condition, index) => (
        <span key={`${groupIndex} ${index}`} class="data-where-part">
          {index > 0 ? <i>{t('and')}</i> : groupIndex > 0 ? <i>{t('or')}</i> : <i>{t('where')}</i>}
          {isReadOnly
            ? <b>{conditionText(condition)}</b>
            : (
              <span class="data-chip">
                <button type="button" onClick={() => void edit(groupIndex, index, condition)}>{conditionText(condition)}</button>
                <button type="button" class="icon-button" aria-label={t('removeCondition')} onClick={() => change(groupIndex, index, null)}><Icon name="cross" /></button>
              </span>
            )}
        </span>
      )))}
      {!isReadOnly && (
        <Menu
          items={[
            { label: groups.length === 0 ? t('addCondition') : t('addAnd'), onSelect: () => void ask(addToLast) },
            ...(groups.length === 0 ? [] : [{ label: t('addOr'), onSelect: () => void ask((condition) => [...groups, [condition]]) }]),
          ]}
          trigger={(attributes) => <button type="button" class="data-part is-add" aria-label={t('addCondition')} {...attributes}><Icon name="plus" /></button>}
        />
      )}
    </span>
  );
}
