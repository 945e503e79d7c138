// Settling many dead letters, in batches that the API takes, with the outcome of each.

import { useMemo, useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import { useEvents, type WorkspaceEvent } from '#api/events';
import { asProblem } from '#api/problem';
import type { Schemas } from '#api/types';
import { Button, CopyCall, Dialog, Notice, Progress, Status } from '#ui';
import { t } from './messages';

type Letter = Schemas['DeadLetterSummary'];
type Settled = Schemas['Settled'];
type Phase = 'asks' | 'works' | 'done';

const BATCH = 50;
const ENDED = ['succeeded', 'failed', 'blocked'];

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

interface BatchesProps {
  readonly ws: string;
  readonly action: Schemas['BulkAction'];
  readonly letters: readonly Letter[];
  readonly onStart: () => void;
  readonly close: () => void;
}

/** Follows what becomes of runs that were started: how many have succeeded, and how many have not. */
function useOutcomes(results: readonly Settled[]): { readonly succeeded: number; readonly failed: number } {
  const [ended, setEnded] = useState<ReadonlyMap<string, string>>(new Map());
  useEvents(useMemo(() => ({ type, data }: WorkspaceEvent) => {
    const { runId, status } = data as Readonly<Record<string, string | undefined>>;
    if (type === 'run' && runId && status && ENDED.includes(status)) setEnded((before) => new Map([...before, [runId, status]]));
  }, []));
  const statuses = results.flatMap(({ runId }) => (runId ? [ended.get(runId)] : []));
  return { succeeded: statuses.filter((status) => status === 'succeeded').length, failed: statuses.filter((status) => status !== undefined && status !== 'succeeded').length };
}

export function Batches({ ws, action, letters, onStart, close }: BatchesProps) {
  const [phase, setPhase] = useState<Phase>('asks');
  const [results, setResults] = useState<readonly Settled[]>([]);
  const isStopped = useRef(false);
  const ids = letters.map(({ id }) => id);
  const start = async () => {
    setPhase('works');
    onStart();
    await settleAll(ws, action, ids, () => isStopped.current, (batch) => setResults((before) => [...before, ...batch]));
    setPhase('done');
  };
  const outcomes = useOutcomes(results);
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
        : <><Progress label={t('settled')} value={results.length} max={count} />{isReplay && <p role="status">{t('outcomes', { started: results.filter(({ runId }) => runId != null).length, ...outcomes })}</p>}<Results ws={ws} letters={letters} results={results} isDone={phase === 'done'} /></>}
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
