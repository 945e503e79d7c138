// Settling many dead letters, in batches that the API takes, with the outcome of each.

import { useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import { asProblem } from '#api/problem';
import type { Schemas } from '#api/types';
import { Button, CopyCall, Dialog, Notice, Progress, Status } from '#ui';
import { t } from './messages';

type Letter = Schemas['DeadLetterSummary'];
type Settled = Schemas['Settled'];
type Phase = 'asks' | 'works' | 'done';

const BATCH = 50;

/** Settles the dead letters batch by batch until it is done or stopped. What a batch could not send counts as failed. */
async function settleAll(ws: string, action: Schemas['BulkAction'], ids: readonly string[], isStopped: () => boolean, report: (results: readonly Settled[]) => void): Promise<void> {
  for (let from = 0; from < ids.length && !isStopped(); from += BATCH) {
    const batch = ids.slice(from, from + BATCH);
    try {
      report((await api.post('/v1/workspaces/{ws}/dead-letters/bulk', { path: { ws }, body: { action, ids: batch } })).results);
    } catch (error) {
      const { code, message } = asProblem(error);
      report(batch.map((id) => ({ id, ok: false, error: { code, message } })));
    }
  }
}

export function Batches({ ws, action, letters, close }: { ws: string; action: Schemas['BulkAction']; letters: readonly Letter[]; close: () => void }) {
  const [phase, setPhase] = useState<Phase>('asks');
  const [results, setResults] = useState<readonly Settled[]>([]);
  const isStopped = useRef(false);
  const ids = letters.map(({ id }) => id);
  const start = async () => {
    setPhase('works');
    await settleAll(ws, action, ids, () => isStopped.current, (batch) => setResults((before) => [...before, ...batch]));
    setPhase('done');
  };
  const stop = () => { isStopped.current = true; };
  const leave = () => { if (phase !== 'works') close(); };
  const count = letters.length;
  const isReplay = action === 'replay';
  return (
    <Dialog
      title={isReplay ? t('replayMany', { count }) : t('discardMany', { count })} size={phase === 'asks' ? 'normal' : 'wide'} onClose={leave}
      actions={phase === 'works' ? <Button onClick={stop}>{t('stop')}</Button> : phase === 'done' ? <Button variant="primary" onClick={close}>{t('done')}</Button> : (
        <>
          <CopyCall call={{ method: 'POST', url: `/v1/workspaces/${ws}/dead-letters/bulk`, body: { action, ids: ids.slice(0, BATCH) } }} />
          <Button onClick={close} autofocus>{t('back')}</Button>
          <Button variant={isReplay ? 'primary' : 'danger'} onClick={() => void start()}>{isReplay ? t('replay') : t('discard')}</Button>
        </>
      )}
    >
      {phase === 'asks'
        ? <p>{isReplay ? t('replayManyBody') : t('discardBody')}</p>
        : <><Progress label={t('settled')} value={results.length} max={count} /><Results ws={ws} letters={letters} results={results} isDone={phase === 'done'} /></>}
    </Dialog>
  );
}

function Results({ ws, letters, results, isDone }: { ws: string; letters: readonly Letter[]; results: readonly Settled[]; isDone: boolean }) {
  const failed = results.filter(({ ok }) => !ok).length;
  const names = new Map(letters.map(({ id, appName, roadName }) => [id, roadName ?? appName]));
  const left = letters.length - results.length;
  return (
    <>
      {isDone && <Notice tone={failed > 0 || left > 0 ? 'warn' : 'ok'}><p>{t('summary', { ok: results.length - failed, failed })}</p>{left > 0 && <p>{t('leftOver', { count: left })}</p>}</Notice>}
      <ul class="letters-results" aria-label={t('results')} tabIndex={0}>
        {results.map(({ id, ok, error, runId }) => (
          <li key={id}>
            <Status tone={ok ? 'ok' : 'bad'} icon={ok ? 'check' : 'cross'}>{ok ? t('ok') : t('failed')}</Status>
            <span class="letters-result-name">{names.get(id) ?? id}{error && <small>{error.message}</small>}</span>
            {runId && <a class="link" href={`/w/${ws}/runs/${runId}`} target="_blank" rel="noopener"><code>{runId.slice(-8)}</code></a>}
          </li>
        ))}
      </ul>
    </>
  );
}
