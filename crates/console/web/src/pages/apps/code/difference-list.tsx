// Differences of permissions as sentences, with what the app gains marked.

import type { ComponentChildren } from 'preact';
import type { Difference } from '../differences';
import { t } from './messages';

/** Returns the sentence of one difference. */
function sentence({ subject, change, name, terms }: Difference): ComponentChildren {
  const shown = { name: <code>{name}</code>, terms: terms === '' ? t(subject === 'egress' ? 'termsAllMethods' : subject === 'secret' ? 'termsAllUses' : 'termsNone') : terms };
  return t.rich(`diff_${subject}_${change}`, shown);
}

export function DifferenceList({ differences }: { differences: readonly Difference[] }) {
  if (differences.length === 0) return <p class="muted">{t('noDifferences')}</p>;
  const gains = differences.filter(({ isGain }) => isGain);
  const others = differences.filter(({ isGain }) => !isGain);
  return (
    <div class="differences">
      <Part title={t('gains')} tone="warn" differences={gains} />
      <Part title={t('losses')} tone="neutral" differences={others} />
    </div>
  );
}

function Part({ title, tone, differences }: { title: string; tone: 'warn' | 'neutral'; differences: readonly Difference[] }) {
  if (differences.length === 0) return null;
  return (
    <section class={`tone-${tone}`}>
      <h3>{title}</h3>
      <ul>{differences.map((one) => <li key={`${one.subject} ${one.name} ${one.change}`}>{sentence(one)}</li>)}</ul>
    </section>
  );
}
