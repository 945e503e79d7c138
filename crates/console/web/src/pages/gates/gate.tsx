// One gate, in the panel beside the list.

import { useEffect } from 'preact/hooks';
import { useResource } from '#api/resource';
import type { RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Copyable, Facts, Json, Loaded, Notice, Panel } from '#ui';
import { t } from './messages';
import { GateStatus } from './status';
import { mayNotCreate, mayNotSet, useAppNames, useDelete, useGates, useSetStatus, type Gate } from './use-gates';

export default function GatePanel({ params: { ws, id } }: RouteProps<'/w/:ws/gates/:id'>) {
  const list = useGates(ws);
  const gate = [...list.items, ...list.held].find((one) => one.id === id);
  const change = useSetStatus(ws, list);
  const remove = useDelete(ws, list);
  const needsMore = gate === undefined && list.hasMore && !list.loading && list.error === undefined;
  useEffect(() => { if (needsMore) list.loadMore(); }, [needsMore, list.items.length]);
  if (gate === undefined) {
    const isMissing = list.isComplete && !list.loading && !list.hasMore && !list.error;
    return <Panel title={t('gate')}>{isMissing ? <Notice tone="warn"><p>{t('notFound')}</p></Notice> : <Loaded resource={{ data: undefined, error: list.error, refresh: list.refresh }}>{() => null}</Loaded>}</Panel>;
  }
  const button = <Button variant={gate.status === 'open' ? 'quiet' : 'primary'} icon={gate.status === 'open' ? 'lock' : 'check'} busy={change.busy} unavailable={mayNotSet()} onClick={() => void change.run(gate)}>{gate.status === 'open' ? t('close') : t('open')}</Button>;
  const deletion = gate.connectionId === null && <Button variant="danger" busy={remove.busy} unavailable={mayNotCreate()} onClick={() => void remove.run(gate)}>{t('delete')}</Button>;
  return <Panel title={gate.host} actions={<>{deletion}{button}</>}><Detail ws={ws} gate={gate} /></Panel>;
}

function Detail({ ws, gate }: { ws: string; gate: Gate }) {
  const { nameOf } = useAppNames(ws);
  return (
    <div class="gate">
      <Facts
        facts={[
          [t('status'), <GateStatus status={gate.status} />],
          [t('methods'), gate.methods.join(', ')],
          [t('blocked'), formatNumber(gate.blocked24h)],
          [t('gate'), <Copyable value={gate.id} />],
        ]}
      />
      <p>{explanation(gate)}</p>
      {gate.connectionId !== null && <Notice actions={<Button size="small" href={`/w/${ws}/connections/${gate.connectionId}`}>{t('openConnection')}</Button>}><p>{t('ofConnection')}</p></Notice>}
      <section>
        <h3>{t('apps')}</h3>
        {gate.appIds.length === 0
          ? <p class="muted">{t(gate.connectionId === null ? 'unused' : 'unusedConnection')}</p>
          : <ul class="gate-list">{gate.appIds.map((id) => <AppRow key={id} ws={ws} id={id} name={nameOf(id)} />)}</ul>}
      </section>
      <details><summary>{t('raw')}</summary><Json value={gate} label={t('raw')} /></details>
    </div>
  );
}

function explanation({ status, host, connectionId, name }: Gate): string {
  if (connectionId === null) return t(status === 'open' ? 'explainOpen' : 'explainClosed', { host });
  return t(status === 'open' ? 'explainConnectionOpen' : 'explainConnectionClosed', { host, name });
}

/** Reads the name of an app that is not among the newest ones. */
function AppRow({ ws, id, name }: { ws: string; id: string; name: string | undefined }) {
  const app = useResource('/v1/apps/{id}', name === undefined ? { path: { id } } : null);
  const shown = name ?? app.data?.name;
  return (
    <li>
      {shown === undefined ? <code>{id}</code> : <a class="link" href={`/w/${ws}/apps/${id}`}>{shown}</a>}
      <a class="link muted" href={`/w/${ws}/runs?appId=${id}&status=blocked`}>{t('blockedRuns')}</a>
    </li>
  );
}
