// Runs that the gate stopped at a host that a change allows: what one wants to do next is to run them again.

import { useMemo, useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import { asProblem, type Problem } from '#api/problem';
import type { Schemas } from '#api/types';
import { useAction } from '#frame';
import { Button, Notice, ProblemView } from '#ui';
import { missingRight, type App } from '../app-page';
import { t } from './messages';

const MOST = 200;

/** Returns the hosts that the app may reach only since the change. */
function hostsOf({ plan: { diff } }: Schemas['Change']): readonly string[] {
  return diff.gains.filter(({ subject }) => subject === 'egress').map(({ name }) => name);
}

export function BlockedRuns({ ws, app, change }: { ws: string; app: App; change: Schemas['Change'] }) {
  const hosts = hostsOf(change);
  const query = { appId: app.id, limit: MOST };
  const blocked = useResource('/v1/workspaces/{ws}/runs', hosts.length === 0 ? null : { path: { ws }, query: { ...query, status: 'blocked' } }, { on: ['run'] });
  const latest = useResource('/v1/workspaces/{ws}/runs', hosts.length === 0 ? null : { path: { ws }, query }, { on: ['run'] });
  const [started, setStarted] = useState<readonly string[]>([]);
  const [refused, setRefused] = useState<Problem | null>(null);
  const waiting = useMemo(() => {
    const again = new Set([...started, ...(latest.data?.items ?? []).map(({ replayOf }) => replayOf)]);
    return (blocked.data?.items ?? []).filter(({ id, errorMessage }) => !again.has(id) && hosts.some((host) => errorMessage?.includes(host)));
  }, [blocked.data, latest.data, started, hosts.join()]);
  const replay = useAction(async () => {
    setRefused(null);
    // The oldest first, as they came.
    for (const { id } of waiting.toReversed()) {
      try {
        await api.post('/v1/runs/{id}/replay', { path: { id }, body: { version: 'current' } });
        setStarted((before) => [...before, id]);
      } catch (error) {
        return setRefused(asProblem(error));
      }
    }
    return undefined;
  });
  // What was not read is not counted.
  if (!blocked.data || !latest.data || (waiting.length === 0 && started.length === 0)) return null;
  return (
    <Notice
      tone={waiting.length === 0 ? 'ok' : 'info'}
      actions={waiting.length === 0
        ? <Button size="small" href={`/w/${ws}/runs?appId=${app.id}`}>{t('seeRuns')}</Button>
        : <Button size="small" variant="primary" icon="replay" busy={replay.busy} unavailable={missingRight(app, 'can_run')} onClick={() => void replay.run()}>{t('replayBlocked', { count: waiting.length })}</Button>}
    >
      {started.length > 0 && <p role="status">{t('replayed', { count: started.length })}</p>}
      {waiting.length > 0 && <p>{t('stillBlocked', { count: waiting.length, hosts: hosts.join(', ') })}</p>}
      {refused && <ProblemView problem={refused} />}
    </Notice>
  );
}
