// A change of an app, asked for in sentences.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { discardUnsaved, navigate, useAction, useUnsaved, type RouteProps } from '#frame';
import { locale } from '#i18n';
import { Button, Card, Notice, TextArea } from '#ui';
import { AppPage, missingRight, type App } from '../app-page';
import { EXAMPLES } from './examples';
import { t } from './messages';
import { OpenPlans } from './open-plans';

const SHORTEST = 4;
const LONGEST = 2_000;

export default function ChangesPage({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id/changes'>) {
  return <AppPage ws={ws} id={id} part="changes">{(app) => <Instruction ws={ws} app={app} />}</AppPage>;
}

function unplannable(app: App, instruction: string): string | null {
  if (app.currentVersionId === null) return t('noVersion');
  return missingRight(app, 'can_edit') ?? (instruction.trim().length < SHORTEST ? t('writeFirst') : null);
}

function Instruction({ ws, app }: { ws: string; app: App }) {
  const [instruction, setInstruction] = useState('');
  useUnsaved(instruction.trim() !== '', { form: 'instruction', value: instruction, restore: setInstruction });
  const plan = useAction(async () => {
    const { changeId } = await api.post('/v1/apps/{id}/changes', { path: { id: app.id }, body: { instruction: instruction.trim() } });
    discardUnsaved();
    await navigate(`/w/${ws}/apps/${app.id}/changes/${changeId}`);
  });
  const unavailable = unplannable(app, instruction);
  const add = (sentence: string) => setInstruction((now) => (now.trim() === '' ? sentence : `${now.trimEnd()}\n${sentence}`));
  const refusal = missingRight(app, 'can_edit');
  if (refusal !== null) return <Notice><p>{refusal}</p></Notice>;
  return (
    <div class="changes">
      <OpenPlans ws={ws} app={app.id} />
      <form class="changes-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void plan.run(); }}>
        <TextArea label={t('whatToChange')} hint={t('whatToChangeHint')} rows={5} maxlength={LONGEST} value={instruction} onInput={setInstruction} />
        <div><Button variant="primary" type="submit" busy={plan.busy} unavailable={unavailable}>{t('plan')}</Button></div>
      </form>
      <Card title={t('examples')}>
        <ul class="card-body changes-examples">
          {EXAMPLES[locale.value].map((sentence) => (
            <li key={sentence}><Button size="small" variant="quiet" icon="plus" onClick={() => add(sentence)}>{sentence}</Button></li>
          ))}
        </ul>
      </Card>
      <p class="muted">{t('rules')}</p>
    </div>
  );
}
