// The steps of an export, and beside them the function that each became.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { query, setQuery, useCommands } from '#frame';
import { formatNumber } from '#i18n';
import { Code, Segments } from '#ui';
import { useNarrow } from '../apps/narrow';
import { functionLines } from './function-lines';
import { t } from './messages';
import { GRADES, GradeStatus, type Totals } from './status';

type Item = Schemas['ImportItem'];

/** Most steps that can be left out. */
export const MAX_SKIPPED = 40;

export interface Skipping {
  readonly ids: ReadonlySet<string>;
  /** Step that starts the workflow, which cannot be left out. */
  readonly startId: string | null;
  readonly onToggle: (id: string, isSkipped: boolean) => void;
}

/** The module with the functions, and where its code is edited. */
interface Module {
  readonly text: string;
  readonly href: string;
}

interface StepsProps {
  readonly items: readonly Item[];
  readonly totals: Totals;
  /** `null` without an app. */
  readonly module?: Module | null;
  /** What is left out, where that can be chosen. */
  readonly skipping?: Skipping | null;
}

export function Steps({ items, totals, module = null, skipping = null }: StepsProps) {
  const isNarrow = useNarrow();
  const [chosenId, setChosen] = useState<string | null>(null);
  const grade = GRADES.find((name) => name === query.value.get('grade')) ?? 'all';
  const shown = grade === 'all' ? items : items.filter((item) => item.grade === grade);
  const chosen = module === null ? undefined : shown.find(({ id }) => id === chosenId) ?? (isNarrow ? undefined : shown[0]);
  const step = (by: 1 | -1) => {
    const next = shown[chosen === undefined ? 0 : shown.indexOf(chosen) + by];
    if (!next) return;
    setChosen(next.id);
    document.getElementById(buttonId(next.id))?.focus();
  };
  const canMove = () => module !== null && shown.length > 0;
  useCommands([
    { id: 'imports.next', label: t('nextStep'), keys: 'j', isHidden: true, when: canMove, run: () => step(1) },
    { id: 'imports.previous', label: t('previousStep'), keys: 'k', isHidden: true, when: canMove, run: () => step(-1) },
  ]);
  const options = [{ value: 'all' as const, label: t('filter_all', { number: formatNumber(totals.steps) }) }, ...GRADES.map((value) => ({ value, label: t(`filter_${value}`, { number: formatNumber(totals[value]) }) }))];
  const code = chosen && module && <StepCode key={chosen.id} item={chosen} module={module} height={isNarrow ? 'normal' : 'tall'} />;
  const choose = (id: string) => setChosen(isNarrow && id === chosen?.id ? null : id);
  return (
    <section class="imports-stack">
      <h2>{t('steps')}</h2>
      <div class="imports-filter"><Segments label={t('filterBy')} value={grade} onChange={(value) => setQuery({ grade: value === 'all' ? null : value })} options={options} /></div>
      {shown.length === 0
        ? <p class="muted" role="status">{t('noneOfGrade')}</p>
        : (
          <div class={module === null || isNarrow ? 'imports-columns is-single' : 'imports-columns'}>
            <ul class="imports-steps">
              {shown.map((item) => (
                <Step key={item.id} item={item} isChosen={item.id === chosen?.id} onChoose={module === null ? null : () => choose(item.id)} skipping={skipping}>
                  {isNarrow && item.id === chosen?.id && code}
                </Step>
              ))}
            </ul>
            {!isNarrow && code}
          </div>
        )}
    </section>
  );
}

const buttonId = (id: string) => `imports-step-${id}`;

interface StepProps {
  readonly item: Item;
  readonly isChosen: boolean;
  /** Shows its function; `null` if there is none to show. */
  readonly onChoose: (() => void) | null;
  readonly skipping: Skipping | null;
  readonly children: ComponentChildren;
}

function Step({ item: { id, name, type, grade, step, sentence }, isChosen, onChoose, skipping, children }: StepProps) {
  const isSkipped = skipping?.ids.has(id) ?? false;
  const canSkip = skipping !== null && step !== null && id !== skipping.startId;
  return (
    <li class={`imports-step ${isChosen ? 'is-chosen' : ''} ${isSkipped ? 'is-skipped' : ''}`}>
      <div class="imports-step-head">
        {onChoose === null ? <b>{name}</b> : <button type="button" id={buttonId(id)} aria-pressed={isChosen} onClick={onChoose}>{name}</button>}
        <GradeStatus grade={grade} />
      </div>
      <code class="muted">{type}</code>
      <p>{sentence}</p>
      {canSkip && (
        <label class="imports-skip">
          <input type="checkbox" class="checkbox" checked={isSkipped} disabled={!isSkipped && skipping.ids.size >= MAX_SKIPPED} onChange={(event) => skipping.onToggle(id, event.currentTarget.checked)} />
          <span>{t('leaveOut')}<span class="hidden-text"> {name}</span></span>
        </label>
      )}
      {children}
    </li>
  );
}

interface StepCodeProps {
  readonly item: Item;
  readonly module: Module;
  readonly height: 'normal' | 'tall';
}

function StepCode({ item: { name, step }, module, height }: StepCodeProps) {
  const found = step === null ? null : functionLines(module.text, step);
  const edit = <a class="link" href={module.href}>{t('openCode')}</a>;
  if (step === null) return <aside class="imports-code" aria-label={name}><p class="muted">{t('noFunction')}</p></aside>;
  if (found === null) return <aside class="imports-code" aria-label={name}><p class="muted">{t('functionGone', { name: step })} {edit}</p></aside>;
  return (
    <aside class="imports-code" aria-label={name}>
      <div class="imports-code-head"><span><code>{step}</code> <span class="muted">{t('lines', { first: found.first, last: found.last })}</span></span>{edit}</div>
      <Code label={t('codeOf', { name })} language="javascript" value={found.text} firstLine={found.first} height={height} />
    </aside>
  );
}
