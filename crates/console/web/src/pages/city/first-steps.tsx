// The first thing to do in a new workspace: one click calls the sample, a run travels into its house, and a row appears.

import { useEffect, useState } from 'preact/hooks';
import { api, send } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasRole, isReadOnly, useAction } from '#frame';
import { Button, Icon, ProblemView, RunStatus } from '#ui';
import { t } from './messages';

/** What the sample is called with. */
const GREETING = 'Hello, Qala';

interface Sample {
  readonly automation: Schemas['Automation'];
  /** Where its app keeps rows. */
  readonly table: { readonly project: string; readonly name: string } | null;
}

/** Returns the automation that a call from outside starts, if the workspace has one, and the table that its app writes to. */
function useSample(apps: readonly Schemas['App'][], automations: readonly Schemas['Automation'][]): Sample | null {
  const automation = automations.find(({ trigger, status }) => trigger.type === 'webhook' && status === 'active') ?? null;
  const app = apps.find(({ id }) => id === automation?.appId);
  const version = useResource('/v1/apps/{id}/versions/{versionId}', app?.currentVersionId == null ? null : { path: { id: app.id, versionId: app.currentVersionId } });
  if (automation === null || !app?.rights.includes('can_run') || version.data === undefined) return null;
  const [data] = version.data.manifest.permissions?.data ?? [];
  const name = data?.tables?.[0];
  return { automation, table: data === undefined || name === undefined ? null : { project: data.projectId, name } };
}

interface Props {
  readonly ws: string;
  readonly apps: readonly Schemas['App'][];
  readonly automations: readonly Schemas['Automation'][];
}

/** Ways to begin, above the town of a workspace in which nothing has run. */
export function FirstSteps({ ws, apps, automations }: Props) {
  const sample = useSample(apps, automations);
  const [runId, setRunId] = useState<string | null>(null);
  const call = useAction(async ({ id }: Schemas['Automation']) => {
    setRunId((await api.post('/v1/automations/{id}/webhook/test', { path: { id }, body: { body: { title: GREETING } as never } })).runId);
  }, { shows: 'inline' });
  if (!hasRole('builder') || isReadOnly.value) return null;
  return (
    <section class="card city-first" aria-label={t('firstTitle')}>
      <div class="city-first-ways">
        {sample && <Button variant="primary" icon="play" busy={call.busy} onClick={() => void call.run(sample.automation)}>{runId === null ? t('callSample') : t('callAgain')}</Button>}
        <Button href={`/w/${ws}/apps/templates`}>{t('fromTemplate')}</Button>
        <Button href={`/w/${ws}/imports/new`}>{t('bringWorkflow')}</Button>
      </div>
      {call.problem && <ProblemView problem={call.problem} />}
      {runId === null || sample === null
        ? <p class="muted">{sample ? t('callSampleAbout', { name: sample.automation.name }) : t('firstAbout')}</p>
        : <Called key={runId} ws={ws} id={runId} table={sample.table} />}
    </section>
  );
}

/** What became of the call. */
function Called({ ws, id, table }: { ws: string; id: string; table: Sample['table'] }) {
  const run = useResource('/v1/runs/{id}', { path: { id } }, { on: [`run:${id}`] });
  const isDone = run.data?.status === 'succeeded';
  const row = useNewestRow(isDone ? table : null);
  return (
    <p class="city-first-outcome" role="status">
      {run.data && <a href={`/w/${ws}/runs/${id}`}><RunStatus status={run.data.status} /></a>}
      {table !== null && row !== null && <><Icon name="right" /><a class="link" href={`/w/${ws}/data/${table.project}/${table.name}`}>{t('rowIn', { row, table: table.name })}</a></>}
    </p>
  );
}

/** Returns the first text of the newest row, once there is one. */
function useNewestRow(table: Sample['table']): string | null {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    if (table === null) return;
    const url = `/v1/backend/projects/${table.project}/tables/${encodeURIComponent(table.name)}/rows?order=created_at.desc&limit=1`;
    send<readonly Readonly<Record<string, unknown>>[]>({ method: 'GET', url, isBackground: true }).then(({ data: [row] }) => {
      const value = Object.entries(row ?? {}).find(([name, cell]) => name !== 'id' && name !== 'created_at' && typeof cell === 'string')?.[1];
      setText(typeof value === 'string' ? value : null);
      // Without the row, the run still says how it ended.
    }, () => undefined);
  }, [table?.project, table?.name]);
  return text;
}
