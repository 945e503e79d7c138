// Connecting an HTTP API that is described by hand.

import { api } from '#api/client';
import { closePanel, discardUnsaved, navigate, toast, useAction, type RouteProps } from '#frame';
import { Button, Panel } from '#ui';
import { HTTP, useCatalogue } from './catalogue';
import { HTTP_FIELDS, httpBody, newHttpDraft } from './http-draft';
import { HttpFields } from './http-form';
import { t } from './messages';
import { Form, Guide, Refused, useEdited } from './parts';
import { connectionsChanged, mayNotWrite, useConnections } from './use-connections';

export default function NewHttpConnection({ params: { ws } }: RouteProps<'/w/:ws/connections/new/http'>) {
  const refusal = mayNotWrite();
  return refusal === null ? <Connect ws={ws} /> : <Refused title={t('connectHttp')}>{refusal}</Refused>;
}

function Connect({ ws }: { ws: string }) {
  const connector = useCatalogue().data?.find(({ id }) => id === HTTP);
  const list = useConnections(ws);
  const { draft, change } = useEdited(newHttpDraft());
  const connect = useAction(async () => {
    const body = httpBody(draft);
    const { id } = await api.post('/v1/workspaces/{ws}/connectors/http', { path: { ws }, body });
    discardUnsaved();
    connectionsChanged(id);
    list.refresh();
    toast(t('connectedNow', { name: body.displayName }));
    await navigate(`/w/${ws}/connections/${id}`);
  }, { shows: 'inline' });
  const actions = <><Button onClick={closePanel}>{t('cancel')}</Button><Button type="submit" form="connections-new-http" variant="primary" busy={connect.busy} unavailable={mayNotWrite()}>{t('connectAction')}</Button></>;
  return (
    <Panel title={t('connectHttp')} actions={actions}>
      {connector && <Guide guide={connector.guide} docsUrl={connector.docsUrl} name="HTTP" />}
      <Form id="connections-new-http" problem={connect.problem} fields={HTTP_FIELDS} onSubmit={() => void connect.run()}>
        {(errorOf) => <HttpFields draft={draft} onChange={change} errorOf={errorOf} isStored={false} />}
      </Form>
    </Panel>
  );
}
