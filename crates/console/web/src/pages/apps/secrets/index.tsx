// The secrets of an app: those that have a value, and those that its code names without one.

import { api, urlOf } from '#api/client';
import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasRole, isReadOnly, toast, useAction, type RouteProps } from '#frame';
import { Button, Card, confirm, Empty, Loaded, Menu, Notice, objectItems, openDialog, Status, Table, Time } from '#ui';
import { AppPage, missingRight, type App } from '../app-page';
import { t } from './messages';
import { secretPrecondition } from './precondition';
import { SecretDialog } from './secret-dialog';

type Secret = Schemas['AppSecret'];
type Secrets = Resource<Schemas['AppSecretList']>;

export default function SecretsPage({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id/secrets'>) {
  return <AppPage ws={ws} id={id} part="secrets">{(app) => <MayRead app={app} />}</AppPage>;
}

/** Returns why the person may not give and delete values, or `null` if they may. */
function mayNotSet(): string | null {
  if (isReadOnly.value) return t('readOnly');
  return hasRole('admin') ? null : t('adminsOnly');
}

function MayRead({ app }: { app: App }) {
  const isAllowed = app.rights.includes('can_edit');
  const secrets = useResource('/v1/apps/{id}/secrets', isAllowed ? { path: { id: app.id } } : null, { on: [`app:${app.id}`] });
  if (!isAllowed) return <Notice><p>{missingRight(app, 'can_edit')}</p></Notice>;
  return <Loaded resource={secrets} lines={4}>{({ items }) => <List app={app} items={items} secrets={secrets} />}</Loaded>;
}

function List({ app, items, secrets }: { app: App; items: readonly Secret[]; secrets: Secrets }) {
  const give = async (secret?: Secret) => {
    const saved = await openDialog<Secret>((close) => <SecretDialog app={app.id} secret={secret} close={close} />);
    if (saved === undefined) return;
    secrets.refresh();
    toast(t('saved', { name: saved.name }));
  };
  const add = <Button variant="primary" icon="plus" unavailable={mayNotSet()} onClick={() => void give()}>{t('add')}</Button>;
  const missing = items.filter(({ setAt }) => setAt === null);
  const shown = items.filter(({ clear, declared }) => clear && declared?.clear);
  if (items.length === 0) return <Empty title={t('none')} action={add}><p>{t('noneBody')}</p></Empty>;
  return (
    <div class="secrets">
      <p class="muted">{t('lead')}</p>
      {missing.length > 0 && <Notice tone="warn"><p>{t('missing', { count: missing.length, names: missing.map(({ name }) => name).join(', ') })}</p></Notice>}
      {shown.length > 0 && <Notice tone="warn"><p>{t('inClear', { count: shown.length, names: shown.map(({ name }) => name).join(', ') })}</p></Notice>}
      <Card title={t('title')} aside={add}>
        <Table label={t('title')} head={[t('name'), t('value'), t('uses'), t('hosts'), '']}>
          {items.map((secret) => <Row key={secret.name} app={app} secret={secret} secrets={secrets} onGive={() => void give(secret)} />)}
        </Table>
      </Card>
    </div>
  );
}

function Row({ app, secret, secrets, onGive }: { app: App; secret: Secret; secrets: Secrets; onGive: () => void }) {
  const { name, setAt, setByName, hosts, declared } = secret;
  const remove = useAction(async () => {
    const question = { title: t('deleteTitle', { name }), body: <p>{t('deleteBody')}</p>, action: t('delete'), tone: 'bad' as const };
    if (!(await confirm(question))) return;
    await api.delete('/v1/apps/{id}/secrets/{name}', { path: { id: app.id, name } }, secretPrecondition(app.id, secret));
    secrets.refresh();
    toast(t('deleted', { name }));
  });
  const refusal = mayNotSet();
  const items = [
    { label: setAt === null ? t('give') : t('replace'), icon: 'key' as const, unavailable: refusal, onSelect: onGive },
    ...(setAt === null ? [] : [{ label: t('delete'), icon: 'trash' as const, tone: 'bad' as const, unavailable: refusal, onSelect: () => void remove.run() }]),
    null,
    ...objectItems(urlOf('/v1/apps/{id}/secrets', { path: { id: app.id } }), secret),
  ];
  return (
    <tr>
      <td><code>{name}</code></td>
      <td>{setAt === null ? <Status tone="warn" icon="clock">{t('noValue')}</Status> : <span>{setByName ?? t('somebody')} · <Time at={setAt} /></span>}</td>
      <td>{usesOf(secret)}</td>
      <td class="secrets-hosts">{hosts.length === 0 ? <span class="muted">{t('noHosts')}</span> : hosts.join(', ')}</td>
      <td class="is-end">{declared !== null && setAt === null ? <Button size="small" unavailable={refusal} onClick={onGive}>{t('give')}</Button> : <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name })} items={items} />}</td>
    </tr>
  );
}

function usesOf({ clear, declared }: Secret) {
  if (declared === null) return <span class="muted">{t('undeclared')}</span>;
  if (declared.clear) return <Status tone="warn" icon="eye">{t(clear ? 'clear' : 'clearWanted')}</Status>;
  return declared.uses === null ? t('allUses') : declared.uses.map((use) => t(`use_${use}`)).join(', ');
}
