// The fields of an automation, for creating and for changing it.

import type { ComponentChildren } from 'preact';
import { Choice, Select, TextField, triggerText, type Option } from '#ui';
import { zones } from './cron';
import type { Draft, Mistakes } from './draft';
import { t } from './messages';
import { SchedulePreview } from './schedule-preview';

const TYPES: readonly Draft['type'][] = ['schedule', 'webhook', 'form', 'event', 'manual'];
const EXAMPLES = ['0 9 * * *', '0 9 * * 1-5', '0 9 * * 1', '0 * * * *', '*/15 * * * *', '0 9 1 * *'];

interface FieldsProps {
  readonly draft: Draft;
  /** What is wrong, once the person has tried to save. */
  readonly mistakes: Mistakes;
  readonly onChange: (draft: Draft) => void;
  /** The choice of the app, which cannot be changed later. */
  readonly app?: ComponentChildren;
}

export function Fields({ draft, mistakes, onChange, app }: FieldsProps) {
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  return (
    <div class="automations-stack">
      <TextField label={t('name')} value={draft.name} onInput={(name) => set({ name })} error={mistakes.name} maxlength={60} autofocus />
      {app}
      <Choice
        label={t('triggerQuestion')} value={draft.type} onChange={(type) => set({ type })}
        options={TYPES.map((value) => ({ value, label: triggerText(value), detail: t(`about_${value}`) }))}
      />
      {draft.type === 'schedule' && <ScheduleFields draft={draft} mistakes={mistakes} set={set} />}
      {draft.type === 'event' && <TextField label={t('eventName')} hint={t('eventHint')} value={draft.event} onInput={(event) => set({ event })} error={mistakes.event} maxlength={128} spellcheck={false} />}
      <div class="automations-pair">
        <TextField label={t('retries')} hint={t('retriesHint')} type="number" min={0} max={5} value={draft.retries} onInput={(retries) => set({ retries })} error={mistakes.retries} />
        <TextField label={t('concurrency')} hint={t('concurrencyHint')} type="number" min={1} max={1000} placeholder={t('noLimit')} value={draft.maxConcurrency} onInput={(maxConcurrency) => set({ maxConcurrency })} error={mistakes.maxConcurrency} />
      </div>
    </div>
  );
}

type Set = (change: Partial<Draft>) => void;

function ScheduleFields({ draft, mistakes, set }: { draft: Draft; mistakes: Mistakes; set: Set }) {
  const examples: Option[] = [{ value: '', label: t('example_other') }, ...EXAMPLES.map((value, index) => ({ value, label: t(`example_${index as 0 | 1 | 2 | 3 | 4 | 5}`) }))];
  return (
    <>
      <div class="automations-pair">
        <Select label={t('howOften')} options={examples} value={EXAMPLES.includes(draft.cron) ? draft.cron : ''} onChange={(cron) => { if (cron !== '') set({ cron }); }} />
        <TextField label={t('cron')} hint={t('cronHint')} value={draft.cron} onInput={(cron) => set({ cron })} error={mistakes.cron} maxlength={128} spellcheck={false} autocomplete="off" />
      </div>
      <Select label={t('zone')} options={zones(draft.timezone).map((value) => ({ value, label: value }))} value={draft.timezone} onChange={(timezone) => set({ timezone })} />
      <SchedulePreview cron={draft.cron} zone={draft.timezone} />
      <Choice
        label={t('catchUpQuestion')} value={draft.catchUp} onChange={(catchUp) => set({ catchUp })}
        options={(['last', 'all', 'none'] as const).map((value) => ({ value, label: t(`catchUp_${value}`), detail: t(`catchUpAbout_${value}`) }))}
      />
      {draft.catchUp !== 'none' && <TextField label={t('catchUpMinutes')} hint={t('catchUpMinutesHint')} type="number" min={1} max={43200} value={draft.catchUpMinutes} onInput={(catchUpMinutes) => set({ catchUpMinutes })} error={mistakes.catchUpMinutes} />}
      <Choice
        label={t('overlapQuestion')} value={draft.overlap} onChange={(overlap) => set({ overlap })}
        options={(['allow', 'skip'] as const).map((value) => ({ value, label: t(`overlap_${value}`) }))}
      />
    </>
  );
}
