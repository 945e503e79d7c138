// What the current version may use, in sentences, and whether the gates let it.

import type { Schemas } from '#api/types';
import { useAll } from '#api/all';
import { useResource } from '#api/resource';
import { Status } from '#ui';
import { t } from './messages';
import type { Manifest } from './source';

type Gate = Schemas['Gate'];

/** Reads the gates of a workspace, of which apps name some. */
export function useGates(ws: string): readonly Gate[] | undefined {
  return useAll<Gate>(`/v1/workspaces/${ws}/gates`, ['gate', 'app']).items;
}

export function Permissions({ ws, manifest }: { ws: string; manifest: Manifest }) {
  const gates = useGates(ws);
  const projects = useResource('/v1/workspaces/{ws}/backend/projects', { path: { ws }, query: { limit: 200 } }, { on: ['project'] });
  const { egress = [], data = [], connectors = [], secrets = [], ai } = manifest.permissions ?? {};
  const triggers = manifest.triggers ?? [];
  const projectName = (id: string) => projects.data?.items.find((project) => project.id === id)?.name ?? id;
  const isNothing = egress.length + data.length + connectors.length + secrets.length + triggers.length === 0 && !ai;
  if (isNothing) return <p class="muted">{t('usesNothing')}</p>;
  return (
    <ul class="uses">
      {egress.map(({ host, methods, headers = [] }) => <li key={host}><span>{t.rich('usesHost', { host: <code>{host}</code>, methods: methods ? methods.join(', ') : t('methodsAll') })}{headers.length > 0 && <>; {t('usesHeaders', { headers: headers.join(', ') })}</>}</span><GateState ws={ws} gate={gates?.find((gate) => gate.host === host)} /></li>)}
      {data.map(({ name, projectId, access, tables }) => (
        <li key={name}><span>{t.rich(access === 'write' ? 'usesProjectWrite' : 'usesProjectRead', { project: <a class="link" href={`/w/${ws}/data/${projectId}`}>{projectName(projectId)}</a>, tables: tables ? tables.join(', ') : t('tablesAll') })}</span></li>
      ))}
      {connectors.map(({ name }) => <li key={name}><span>{t.rich('usesConnection', { name: <code>{name}</code> })}</span></li>)}
      {secrets.map(({ name, clear }) => <li key={name}><span>{t.rich(clear ? 'usesSecretClear' : 'usesSecret', { name: <code>{name}</code> })}</span></li>)}
      {ai && <li><span>{t('usesModels', { budget: ai.monthlyBudgetUsd })}</span></li>}
      {triggers.length > 0 && <li><span>{t('startedByAny', { triggers: [...new Set(triggers.map(({ type }) => t(`startedBy_${type}`)))].join(', ') })}</span></li>}
    </ul>
  );
}

function GateState({ ws, gate }: { ws: string; gate: Gate | undefined }) {
  if (gate === undefined) return null;
  const state = gate.status === 'open' ? <Status tone="ok" icon="check">{t('gateOpen')}</Status> : <Status tone="bad" icon="lock">{t('gateClosed')}</Status>;
  return <a href={`/w/${ws}/gates/${gate.id}`}>{state}</a>;
}
