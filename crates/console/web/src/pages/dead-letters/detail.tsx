// One dead letter: what it was given, why it is here, and what can be done about it.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { isReadOnly, toast, useAction, useCommands, type RouteProps } from '#frame';
import { formatBytes, formatNumber } from '#i18n';
import { Button, Card, Copyable, Facts, Json, Loaded, Notice, ObjectMenu, Panel, Time, confirm, triggerText } from '#ui';
import { LetterState } from './list';
import { t } from './messages';
import { Replay } from './replay';

type Letter = Schemas['DeadLetter'];

export default function DeadLetterPanel({ params: { ws, id } }: RouteProps<'/w/:ws/dead-letters/:id'>) {
  const letter = useResource('/v1/dead-letters/{id}', { path: { id } }, { on: [`dead_letter:${id}`] });
  if (!letter.data) return <Panel title={t('letter')} size="wide"><Loaded resource={letter}>{() => null}</Loaded></Panel>;
  return <Detail key={id} ws={ws} letter={letter.data} refresh={letter.refresh} />;
}

function Detail({ ws, letter, refresh }: { ws: string; letter: Letter; refresh: () => void }) {
  const [isReplaying, setReplaying] = useState(false);
  const isOpen = letter.state === 'open';
  const mayNot = letter.canManage && !isReadOnly.value ? null : t('mayNot');
  const discard = useAction(async () => {
    if (!(await confirm({ title: t('discardTitle'), body: t('discardBody'), action: t('discard'), tone: 'bad' }))) return;
    await api.post('/v1/dead-letters/{id}/discard', { path: { id: letter.id } });
    toast(t('discarded'));
    refresh();
  });
  const mayAct = isOpen && mayNot === null && !isReplaying;
  useCommands([
    { id: 'letter.replay', label: t('replay'), keys: 'r', when: () => mayAct, run: () => setReplaying(true) },
    { id: 'letter.discard', label: t('discard'), when: () => mayAct, run: () => void discard.run() },
  ]);
  if (isReplaying) return <Replay ws={ws} letter={letter} back={() => setReplaying(false)} done={refresh} />;
  const actions = isOpen && (
    <>
      <Button icon="trash" busy={discard.busy} unavailable={mayNot} onClick={() => void discard.run()}>{t('discard')}</Button>
      <Button variant="primary" icon="replay" command="letter.replay" unavailable={mayNot} onClick={() => setReplaying(true)}>{t('replayWith')}</Button>
    </>
  );
  return (
    <Panel title={<>{t('letter')} <ObjectMenu url={`/v1/dead-letters/${letter.id}`} value={letter} /></>} size="wide" actions={actions}>
      <div class="letters-stack">
        <Notice tone={isOpen ? 'bad' : 'info'}><p class="letters-cause">{letter.message}</p><p class="muted"><code>{letter.reason}</code></p></Notice>
        <What ws={ws} letter={letter} />
        <Card title={t('input')} aside={formatBytes(letter.payloadBytes)}>
          {letter.hasPayload ? <Json value={letter.payload} label={t('input')} /> : <p class="card-body muted">{t('noInput')}</p>}
        </Card>
      </div>
    </Panel>
  );
}

function What({ ws, letter }: { ws: string; letter: Letter }) {
  const { state, kind, appId, appName, roadId, roadName, trigger, createdAt, attempt, version, runId, replayRunId, settledAt, settledByName } = letter;
  const number = version?.number;
  const run = (id: string) => <a class="link" href={`/w/${ws}/runs/${id}`}><code>{id.slice(-8)}</code></a>;
  return (
    <Facts
      facts={[
        [t('state'), <LetterState state={state} />],
        [t('kind'), t(`kind_${kind}`)],
        [t('app'), <a class="link" href={`/w/${ws}/apps/${appId}`}>{appName}</a>],
        roadId === null ? null : [t('automation'), <a class="link" href={`/w/${ws}/automations/${roadId}`}>{roadName ?? roadId}</a>],
        [t('trigger'), triggerText(trigger)],
        [t('happened'), <Time at={createdAt} as="moment" />],
        runId === null ? null : [t('run'), run(runId)],
        [t('attempts'), formatNumber(attempt)],
        number == null ? null : [t('version'), version?.isCurrent ? t('versionCurrent', { number }) : formatNumber(number)],
        settledAt === null ? null : [t('settledAt'), <><Time at={settledAt} as="moment" />{settledByName !== null && <> · {settledByName}</>}</>],
        replayRunId === null ? null : [t('replayRun'), run(replayRunId)],
        [t('id'), <Copyable value={letter.id} />],
      ]}
    />
  );
}
