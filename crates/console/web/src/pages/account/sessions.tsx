// Where the person is signed in.

import { api } from '#api/client';
import { useList, type List as ListData } from '#api/list';
import type { Schemas } from '#api/types';
import { signOut, toast, useAction } from '#frame';
import { Badge, Button, confirm, List, Menu, objectItems, Time, type Column } from '#ui';
import { deviceText } from './device';
import { AccountPage, LOOK_AGAIN, notWriting } from './frame';
import { t } from './messages';

type Item = Schemas['SessionItem'];

export default function Sessions() {
  const list = useList('/v1/me/sessions', {}, { every: LOOK_AGAIN });
  const endOthers = useAction(async () => {
    if (!(await confirm({ title: t('endOthersTitle'), body: <p>{t('endOthersBody')}</p>, action: t('endOthers'), tone: 'bad' }))) return;
    await api.delete('/v1/me/sessions', {});
    list.refresh();
    toast(t('endedOthers'));
  });
  const isAlone = list.isComplete && list.items.length < 2;
  const actions = <Button busy={endOthers.busy} unavailable={notWriting() ?? (isAlone ? t('noOthers') : null)} onClick={() => void endOthers.run()}>{t('endOthers')}</Button>;
  return (
    <AccountPage lead={t('sessionsLead')} actions={actions}>
      <List label={t('sessions')} list={list} columns={columns(list)} id={({ id }) => id} empty={null} />
    </AccountPage>
  );
}

function columns(list: ListData<Item>): readonly Column<Item>[] {
  return [
    { key: 'device', header: t('device'), isMain: true, cell: ({ device, current }) => <><span title={device ?? undefined}>{deviceText(device) ?? t('unknownDevice')}</span>{current && <> <Badge tone="ok">{t('thisOne')}</Badge></>}</> },
    { key: 'seen', header: t('lastSeen'), cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    { key: 'address', header: t('address'), hide: 'phone', cell: ({ address }) => <span class="muted">{address}</span> },
    { key: 'method', header: t('method'), hide: 'tablet', cell: ({ method }) => <span class="muted">{t.find(`method_${method}`) ?? method}</span> },
    { key: 'created', header: t('signedIn'), hide: 'tablet', cell: ({ createdAt }) => <span class="muted"><Time at={createdAt} /></span> },
    { key: 'expires', header: t('expires'), hide: 'tablet', cell: ({ expiresAt }) => <span class="muted"><Time at={expiresAt} as="moment" /></span> },
    { key: 'actions', header: '', align: 'end', cell: (item) => <Actions item={item} list={list} /> },
  ];
}

function Actions({ item, list }: { item: Item; list: ListData<Item> }) {
  const name = deviceText(item.device) ?? t('unknownDevice');
  const end = useAction(async () => {
    if (item.current) return signOut();
    if (!(await confirm({ title: t('endTitle', { name }), body: <p>{t('endBody')}</p>, action: t('end'), tone: 'bad' }))) return undefined;
    await api.delete('/v1/me/sessions/{id}', { path: { id: item.id } });
    list.remove([item.id]);
    return toast(t('ended'));
  });
  const items = [{ label: item.current ? t('signOut') : t('end'), icon: 'out' as const, tone: 'bad' as const, unavailable: notWriting(), onSelect: () => void end.run() }, null, ...objectItems('/v1/me/sessions', item)];
  return <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name })} items={items} />;
}
