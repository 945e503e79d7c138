// One connection, in the panel beside the list.

import { api } from '#api/client';
import { closePanel, toast, useAction, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, confirm, Copyable, Json, Loaded, Notice, Panel, Particulars, Time } from '#ui';
import { useCatalogue } from './catalogue';
import { t } from './messages';
import { ConnectionStatus } from './status';
import { connectionsChanged, connectionUrl, mayNotWrite, useConnection, type Connection } from './use-connections';

export default function ConnectionPanel({ params: { ws, id } }: RouteProps<'/w/:ws/connections/:id'>) {
  const connection = useConnection(ws, id);
  const { data } = connection;
  return (
    <Panel title={data?.displayName ?? t('connection')} actions={data && <Actions ws={ws} connection={data} />}>
      <Loaded resource={connection}>{(shown) => <Detail ws={ws} connection={shown} />}</Loaded>
    </Panel>
  );
}

function Actions({ ws, connection }: { ws: string; connection: Connection }) {
  const { id, displayName, status, usedBy } = connection;
  const disconnect = useAction(async () => {
    const body = (
      <>
        <p>{t('disconnectBody')}</p>
        {usedBy.length === 0 ? <p>{t('disconnectUnused')}</p> : <><p>{t('disconnectApps', { count: usedBy.length })}</p><ul>{usedBy.map(({ appId, name }) => <li key={appId}><b>{name}</b></li>)}</ul></>}
      </>
    );
    if (!(await confirm({ title: t('disconnectTitle', { name: displayName }), body, action: t('disconnect'), typed: displayName, tone: 'bad' }))) return;
    const { tokensRevoked } = await api.delete('/v1/workspaces/{ws}/connections/{id}', { path: { ws, id } });
    connectionsChanged(id);
    toast(t('disconnected', { name: displayName }), tokensRevoked === false ? { tone: 'bad', detail: t('disconnectedHere') } : {});
    closePanel();
  });
  const test = useAction(async () => {
    const result = await api.post('/v1/workspaces/{ws}/connections/{id}/test', { path: { ws, id } });
    connectionsChanged(id);
    const details = { name: displayName, reason: result.reason ?? '', status: result.status === null ? '' : formatNumber(result.status) };
    if (result.ok === null) toast(t('testUnanswered', details), { tone: 'bad' });
    else if (!result.ok) toast(t('testFailed', details), { tone: 'bad' });
    else if (result.checked === 'gate') toast(t('testPassed', details));
    else toast(t('testFormat', details), { tone: 'info' });
  });
  const isGone = status === 'disconnected';
  return (
    <>
      {!isGone && <Button busy={test.busy} unavailable={mayNotWrite()} onClick={() => void test.run()}>{t('test')}</Button>}
      {!isGone && <Button variant="danger" busy={disconnect.busy} unavailable={mayNotWrite()} onClick={() => void disconnect.run()}>{t('disconnect')}</Button>}
      <Button variant="primary" icon={isGone ? 'replay' : 'edit'} unavailable={mayNotWrite()} href={`/w/${ws}/connections/${id}/edit${location.search}`}>{isGone ? t('connectAgain') : t('change')}</Button>
    </>
  );
}

function Detail({ ws, connection }: { ws: string; connection: Connection }) {
  const { id, connectorId, http, health, usedBy, gate, status, connectedAt, secret, serviceAccount } = connection;
  const connector = useCatalogue().data?.find((one) => one.id === connectorId);
  return (
    <div class="connections-detail">
      {status === 'disconnected' && <Notice><p>{t('explainDisconnected')}</p></Notice>}
      {status === 'error' && <Notice tone="bad"><p>{t('explainError')}</p></Notice>}
      {status === 'expired' && <Notice tone="warn"><p>{t('explainExpired')}</p></Notice>}
      {status === 'connected' && gate === 'closed' && <Notice tone="warn"><p>{t('explainClosed')}</p></Notice>}
      <Particulars
        facts={[
          [t('status'), <ConnectionStatus connection={connection} />],
          [t('connector'), connector?.name ?? connectorId],
          http && [t('baseUrl'), <code>{http.baseUrl}</code>],
          http && [t('auth'), t(`auth_${http.auth.type}`)],
          serviceAccount ? [t('serviceAccount'), <Copyable value={serviceAccount.email} />] : null,
          [t('secret'), secret === 'none' ? t('secretNone') : t('secretStored')],
          secret !== 'none' && connectedAt !== null ? [t('connectedAt'), <Time at={connectedAt} as="moment" />] : null,
          http && [t('methods'), http.methods.join(', ')],
          http && [t('pathPrefix'), <code>{http.pathPrefix}</code>],
          status === 'disconnected' ? null : [t('gate'), <a class="link" href={`/w/${ws}/gates${http ? `?q=${encodeURIComponent(http.host)}` : ''}`}>{gate === 'open' ? t('gateOpen') : t('gateClosed')}</a>],
          [t('id'), <Copyable value={id} />],
        ]}
      />
      <section>
        <h3>{t('health')}</h3>
        <Particulars
          facts={[
            [t('callsSent'), formatNumber(health.calls24h)],
            [t('callsFailed'), <span class={health.errors24h > 0 ? 'connections-errors' : ''}>{formatNumber(health.errors24h)}</span>],
            [t('callsBlocked'), <span class={health.blocked24h > 0 ? 'connections-errors' : ''}>{formatNumber(health.blocked24h)}</span>],
            [t('lastCall'), health.lastCallAt === null ? t('noCall') : <Time at={health.lastCallAt} />],
          ]}
        />
      </section>
      <section>
        <h3>{t('usedBy')}</h3>
        {usedBy.length === 0 ? <p class="muted">{t('unused')}</p> : <ul class="connections-apps">{usedBy.map(({ appId, name }) => <li key={appId}><a class="link" href={`/w/${ws}/apps/${appId}`}>{name}</a></li>)}</ul>}
      </section>
      <details><summary>{t('raw')}</summary><Copyable value={connectionUrl(ws, id)} /><Json value={connection} label={t('raw')} /></details>
    </div>
  );
}
