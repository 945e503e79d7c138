// Passkeys of the person.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { asProblem } from '#api/problem';
import { useList, type List as ListData } from '#api/list';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { toast, toastProblem, useAction } from '#frame';
import { createPasskey, hasPasskeys } from '#frame/passkeys';
import { Button, confirm, Dialog, Empty, List, Menu, objectItems, openDialog, TextField, Time, type Column } from '#ui';
import { deviceText } from './device';
import { AccountPage, LOOK_AGAIN, notWriting } from './frame';
import { t } from './messages';

type Passkey = Schemas['Passkey'];

export default function Passkeys() {
  const list = useList('/v1/me/passkeys', {}, { every: LOOK_AGAIN });
  const methods = useResource('/v1/auth/methods', {});
  // A browser that has them is of no use at an address for which the server has none.
  const isOffered = hasPasskeys && methods.data?.passkeys !== false;
  const add = useAction(async () => {
    const name = await openDialog<string>((close) => <NamePasskey close={close} />);
    if (name === undefined) return;
    const { ceremonyId, options } = await api.post('/v1/auth/passkeys/register/start', {});
    const credential = await createPasskey(options).catch(cancelled);
    if (credential === null) return;
    await api.post('/v1/auth/passkeys/register/finish', { body: { ceremonyId, credential, name } });
    list.refresh();
    toast(t('added', { name }));
  });
  const button = <Button variant="primary" icon="plus" busy={add.busy} unavailable={notWriting() ?? (isOffered ? null : t('noPasskeysHere'))} onClick={() => void add.run()}>{t('addPasskey')}</Button>;
  return (
    <AccountPage lead={t('passkeysLead')} actions={button}>
      <List label={t('passkeys')} list={list} columns={columns(list)} id={({ id }) => id} empty={<Empty title={t('noPasskeys')} action={button}><p>{t('noPasskeysBody')}</p></Empty>} />
    </AccountPage>
  );
}

/** Leaving the browser's question is not a failure. */
function cancelled(error: unknown): null {
  if (error instanceof DOMException && error.name === 'NotAllowedError') toast(t('cancelled'));
  else toastProblem(asProblem(error));
  return null;
}

function NamePasskey({ close }: { close: (name?: string) => void }) {
  const [name, setName] = useState(deviceText(navigator.userAgent) ?? '');
  const submit = (event: Event) => {
    event.preventDefault();
    close(name.trim());
  };
  return (
    <Dialog title={t('addPasskey')} onClose={() => close()} actions={<><Button onClick={() => close()}>{t('cancel')}</Button><Button type="submit" form="name-passkey" variant="primary">{t('proceed')}</Button></>}>
      <form id="name-passkey" onSubmit={submit}>
        <TextField label={t('passkeyName')} hint={t('passkeyNameHint')} value={name} onInput={setName} maxlength={60} required autofocus />
      </form>
    </Dialog>
  );
}

function columns(list: ListData<Passkey>): readonly Column<Passkey>[] {
  return [
    { key: 'name', header: t('passkeyName'), isMain: true, cell: ({ name }) => name },
    { key: 'used', header: t('lastUsed'), cell: ({ lastUsedAt }) => <span class="muted">{lastUsedAt === null ? t('never') : <Time at={lastUsedAt} />}</span> },
    { key: 'created', header: t('createdAt'), hide: 'phone', cell: ({ createdAt }) => <span class="muted"><Time at={createdAt} /></span> },
    { key: 'actions', header: '', align: 'end', cell: (passkey) => <Actions passkey={passkey} list={list} /> },
  ];
}

function Actions({ passkey, list }: { passkey: Passkey; list: ListData<Passkey> }) {
  const remove = useAction(async () => {
    if (!(await confirm({ title: t('deletePasskeyTitle', { name: passkey.name }), body: <p>{t('deletePasskeyBody')}</p>, action: t('delete'), tone: 'bad' }))) return;
    await api.delete('/v1/me/passkeys/{id}', { path: { id: passkey.id } });
    list.remove([passkey.id]);
    toast(t('deletedPasskey', { name: passkey.name }));
  });
  const items = [{ label: t('delete'), icon: 'trash' as const, tone: 'bad' as const, unavailable: notWriting(), onSelect: () => void remove.run() }, null, ...objectItems('/v1/me/passkeys', passkey)];
  return <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name: passkey.name })} items={items} />;
}
