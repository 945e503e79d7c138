// Changing a connection.

import type { ComponentChildren } from 'preact';
import { api } from '#api/client';
import type { Problem } from '#api/problem';
import type { Schemas } from '#api/types';
import { discardUnsaved, navigate, toast, useAction, type RouteProps } from '#frame';
import { Button, Loaded, Notice, Panel } from '#ui';
import { authorize } from './authorize';
import { HTTP, useCatalogue, type Connector } from './catalogue';
import { catalogueDraft, catalogueFields, CatalogueFields, filledValues } from './catalogue-form';
import { HTTP_FIELDS, httpBody, httpDraftOf } from './http-draft';
import { HttpFields } from './http-form';
import { t } from './messages';
import { Form, Guide, Refused, useEdited, type ErrorOf } from './parts';
import { connectionsChanged, connectionUrl, mayNotWrite, useConnection, type Connection } from './use-connections';

export default function EditConnection({ params: { ws, id } }: RouteProps<'/w/:ws/connections/:id/edit'>) {
  const connection = useConnection(ws, id);
  const catalogue = useCatalogue();
  const { data } = connection;
  const title = t('changeName', { name: data?.displayName ?? t('connection') });
  if (data === undefined) return <Panel title={t('change')}><Loaded resource={connection}>{() => null}</Loaded></Panel>;
  const refusal = mayNotWrite();
  if (refusal !== null) return <Refused title={title}>{refusal}</Refused>;
  if (data.connectorId === HTTP && data.http !== null) return <EditHttp key={id} ws={ws} connection={data} http={data.http} />;
  if (catalogue.data === undefined) return <Panel title={title}><Loaded resource={catalogue}>{() => null}</Loaded></Panel>;
  return <EditService key={id} ws={ws} connection={data} connector={catalogue.data.find(({ connectorId }) => connectorId === data.connectorId)} />;
}

function EditHttp({ ws, connection, http }: { ws: string; connection: Connection; http: Schemas['HttpConnection'] }) {
  const { id, displayName } = connection;
  const saved = httpDraftOf(displayName, http);
  const { draft, change, seen } = useEdited(saved, { shown: httpBody(saved, http), of: connection });
  const save = useAction(async () => {
    if (!(await seen.mayOverwrite({ ...httpBody(draft, http), secret: undefined }, () => change(null)))) return;
    await api.put('/v1/workspaces/{ws}/connections/{id}/http', { path: { ws, id }, body: httpBody(draft, http) }, { changes: connectionUrl(ws, id), ...seen.precondition() });
    await done(ws, connection);
  }, { shows: 'inline' });
  return (
    <EditPanel ws={ws} connection={connection} save={save} fields={HTTP_FIELDS} notice={seen.notice(save.busy)}>
      {(errorOf) => <HttpFields draft={draft} onChange={change} errorOf={errorOf} isStored={connection.secret !== 'none'} />}
    </EditPanel>
  );
}

function EditService({ ws, connection, connector }: { ws: string; connection: Connection; connector: Connector | undefined }) {
  const { id, displayName, values } = connection;
  const saved = catalogueDraft(connector, displayName, values);
  const { draft, change, seen } = useEdited(saved, { shown: { displayName, values }, of: connection });
  const save = useAction(async () => {
    const body = { displayName: draft.displayName.trim(), values: filledValues(draft) };
    if (!(await seen.mayOverwrite(body, () => change(null)))) return;
    await api.put('/v1/workspaces/{ws}/connections/{id}', { path: { ws, id }, body: { ...body, ...(draft.secret === '' ? {} : { secret: draft.secret }) } }, seen.precondition());
    await done(ws, connection);
  }, { shows: 'inline' });
  const isStored = connection.secret !== 'none';
  const isAuthorized = connection.http?.auth.type === 'oauth2_code';
  const again = useAction(() => authorize(ws, connection.connectorId, draft, id));
  const guide = connector && <Guide guide={connector.guide} docsUrl={connector.docsUrl} name={connector.name} />;
  return (
    <EditPanel ws={ws} connection={connection} save={save} fields={catalogueFields(connector)} notice={seen.notice(save.busy)} guide={guide}>
      {(errorOf) => (
        <>
          <CatalogueFields connector={connector} draft={draft} onChange={change} errorOf={errorOf} isStored={isStored} isAuthorized={isAuthorized} />
          {isAuthorized && <p><Button busy={again.busy} unavailable={mayNotWrite()} onClick={() => void again.run()}>{t('authorizeAgain')}</Button></p>}
          {!isAuthorized && isStored && (connector?.fields.length ?? 0) > 0 && <p class="field-hint">{t('hostAgain')}</p>}
        </>
      )}
    </EditPanel>
  );
}

async function done(ws: string, { id, displayName }: Connection): Promise<void> {
  discardUnsaved();
  connectionsChanged(id);
  toast(t('changed', { name: displayName }));
  await navigate(`/w/${ws}/connections/${id}${location.search}`);
}

interface EditPanelProps {
  readonly ws: string;
  readonly connection: Connection;
  readonly save: { readonly run: () => Promise<void>; readonly busy: boolean; readonly problem: Problem | null };
  readonly fields: readonly string[];
  readonly notice: ComponentChildren;
  readonly guide?: ComponentChildren;
  readonly children: (errorOf: ErrorOf) => ComponentChildren;
}

function EditPanel({ ws, connection: { id, displayName, status }, save, fields, notice, guide, children }: EditPanelProps) {
  const actions = (
    <>
      <Button href={`/w/${ws}/connections/${id}${location.search}`}>{t('cancel')}</Button>
      <Button type="submit" form="connections-edit" variant="primary" busy={save.busy} unavailable={mayNotWrite()}>{status === 'disconnected' ? t('connectAgain') : t('save')}</Button>
    </>
  );
  return (
    <Panel title={t('changeName', { name: displayName })} actions={actions}>
      {status === 'disconnected' && <Notice><p>{t('explainDisconnected')}</p></Notice>}
      <Form id="connections-edit" problem={save.problem} fields={fields} onSubmit={() => void save.run()}>{children}</Form>
      {notice}
      {guide}
    </Panel>
  );
}
