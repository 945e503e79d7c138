// Connecting a service of the catalogue.

import { api } from '#api/client';
import { closePanel, discardUnsaved, navigate, toast, useAction, type RouteProps } from '#frame';
import { Button, Loaded, Panel } from '#ui';
import { authorize } from './authorize';
import { catalogueDraft, catalogueFields, CatalogueFields, filledValues } from './catalogue-form';
import { notChoosable, useAllowed, useCatalogue, useOauthReady, type Connector } from './catalogue';
import { t } from './messages';
import { Form, Guide, Refused, useEdited } from './parts';
import { connectionsChanged, mayNotWrite, useConnections } from './use-connections';

export default function ConnectService({ params: { ws, connector: id } }: RouteProps<'/w/:ws/connections/new/:connector'>) {
  const catalogue = useCatalogue();
  const allowed = useAllowed(ws);
  const ready = useOauthReady(ws);
  if (catalogue.data === undefined || ready === undefined) return <Panel title={t('connect')}><Loaded resource={catalogue}>{() => null}</Loaded></Panel>;
  const connector = catalogue.data.find((one) => one.id === id);
  if (connector === undefined) return <Refused title={t('connect')}>{t('unknownConnector')}</Refused>;
  const reason = notChoosable(connector, allowed) ?? mayNotWrite();
  if (reason !== null) return <Refused title={t('connectName', { name: connector.name })}>{reason}</Refused>;
  return <Connect key={id} ws={ws} connector={connector} isAuthorized={connector.connectorId !== null && ready.includes(connector.connectorId)} />;
}

function Connect({ ws, connector, isAuthorized }: { ws: string; connector: Connector; isAuthorized: boolean }) {
  const list = useConnections(ws);
  const { draft, change } = useEdited(catalogueDraft(connector, connector.name, {}));
  const connect = useAction(async () => {
    if (isAuthorized) {
      await authorize(ws, connector.id, draft);
      return;
    }
    const { displayName, secret } = draft;
    const body = { displayName: displayName.trim(), values: filledValues(draft), ...(secret === '' ? {} : { secret }) };
    const { id } = await api.post('/v1/workspaces/{ws}/connectors/{connectorId}', { path: { ws, connectorId: connector.id }, body });
    discardUnsaved();
    connectionsChanged(id);
    list.refresh();
    toast(t('connectedNow', { name: body.displayName }));
    await navigate(`/w/${ws}/connections/${id}`);
  }, { shows: 'inline' });
  const actions = <><Button onClick={closePanel}>{t('cancel')}</Button><Button type="submit" form="connections-new" variant="primary" busy={connect.busy} unavailable={mayNotWrite()}>{isAuthorized ? t('authorize') : t('connectAction')}</Button></>;
  return (
    <Panel title={t('connectName', { name: connector.name })} actions={actions}>
      <Guide guide={connector.guide} docsUrl={connector.docsUrl} name={connector.name} />
      <Form id="connections-new" problem={connect.problem} fields={catalogueFields(connector)} onSubmit={() => void connect.run()}>
        {(errorOf) => <CatalogueFields connector={connector} draft={draft} onChange={change} errorOf={errorOf} isStored={false} isAuthorized={isAuthorized} />}
      </Form>
    </Panel>
  );
}
