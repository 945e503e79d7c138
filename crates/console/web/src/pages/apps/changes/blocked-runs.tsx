// Runs that the gate stopped at a host that a change allows: what one wants to do next is to run them again.

import { useMemo, useState } from 'preact/hooks';
import { useAll } from '#api/all';
import { api, urlOf } from '#api/client';
import { useResource } from '#api/resource';
import { asProblem, type Problem } from '#api/problem';
import type { Schemas } from '#api/types';
import { useAction } from '#frame';
import { Button, Notice, ProblemView } from '#ui';
import { missingRight, type App } from '../app-page';
import { useGates } from '../permissions';
import { namesHost } from './host-in-text';
import { t } from './messages';

/** Returns the hosts that the app may reach since the change, and may reach now: its current version names them, and their gates are open. */
function useHosts(ws: string, app: App, { plan: { diff } }: Schemas['Change']): readonly string[] {
  const gained = diff.gains.filter(({ subject }) => subject === 'egress').map(({ name }) => name);
  const versionId = app.currentVersionId ?? null;
  const version = useResource('/v1/apps/{id}/versions/{versionId}', gained.length === 0 || versionId === null ? null : { path: { id: app.id, versionId } });
  const gates = useGates(ws);
  const named = version.data?.manifest.permissions?.egress?.map(({ host }) => host) ?? [];
  return gained.filter((host) => named.includes(host) && gates?.some((gate) => gate.host === host && gate.status === 'open'));
}

export function BlockedRuns({ ws, app, change }: { ws: string; app: App; change: Schemas['Change'] }) {
  const hosts = useHosts(ws, app, change);
  return hosts.length === 0 ? null : <Stopped ws={ws} app={app} hosts={hosts} />;
}

function Stopped({ ws, app, hosts }: { ws: string; app: App; hosts: readonly string[] }) {
  // A run that was replayed, here or elsewhere, is not offered again.
  const blocked = useAll<Schemas['RunSummary']>(urlOf('/v1/workspaces/{ws}/runs', { path: { ws }, query: { appId: app.id, status: 'blocked', replayed: false } }), ['run']);
  const [started, setStarted] = useState<readonly string[]>([]);
  const [refused, setRefused] = useState<Problem | null>(null);
  const waiting = useMemo(
    () => (blocked.items ?? []).filter(({ id, errorMessage }) => !started.includes(id) && hosts.some((host) => namesHost(errorMessage ?? '', host))),
    [blocked.items, started, hosts.join()],
  );
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
  if (!blocked.items || (waiting.length === 0 && started.length === 0)) return null;
  return (
    <Notice
      tone={waiting.length === 0 && !blocked.isCut ? 'ok' : 'info'}
      actions={waiting.length === 0
        ? <Button size="small" href={`/w/${ws}/runs?appId=${app.id}`}>{t('seeRuns')}</Button>
        : <Button size="small" variant="primary" icon="replay" busy={replay.busy} unavailable={missingRight(app, 'can_run')} onClick={() => void replay.run()}>{t('replayBlocked', { count: waiting.length })}</Button>}
    >
      {started.length > 0 && <p role="status">{t('replayed', { count: started.length })}</p>}
      {waiting.length > 0 && <p>{t('stillBlocked', { count: waiting.length, hosts: hosts.join(', ') })}</p>}
      {blocked.isCut && <p>{t('onlyNewest', { count: blocked.items.length })}</p>}
      {refused && <ProblemView problem={refused} />}
    </Notice>
  );
}
