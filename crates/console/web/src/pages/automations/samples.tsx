// What a sender has to do, ready to copy.

import { useState } from 'preact/hooks';
import { toast } from '#frame';
import { Button, Card, Code, Segments, copyText } from '#ui';
import { t } from './messages';
import { samplesOf, type Sample } from './sample-texts';
import type { Webhook } from './webhook';

export function Samples({ webhook }: { webhook: Webhook }) {
  const samples = samplesOf(webhook);
  const [chosen, setChosen] = useState<Sample['id'] | null>(null);
  const shown = samples.find(({ id }) => id === chosen) ?? samples[0];
  if (shown === undefined) return null;
  const copy = async () => { if (await copyText(shown.text)) toast(t('copied')); };
  return (
    <Card title={t('samples')} aside={<Button size="small" icon="copy" onClick={() => void copy()}>{t('copySample')}</Button>}>
      <div class="card-body automations-stack">
        <Segments label={t('samples')} options={samples.map(({ id }) => ({ value: id, label: t(`sample_${id}`) }))} value={shown.id} onChange={setChosen} />
        <p class="field-hint">{t(`sampleHint_${shown.id}`)}</p>
        <Code key={shown.id} label={t(`sample_${shown.id}`)} language={shown.language} value={shown.text} height="short" />
      </div>
    </Card>
  );
}
