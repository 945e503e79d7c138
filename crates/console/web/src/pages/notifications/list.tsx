// What people are told: apps and automations that keep failing, and connections that do not work any more.

import { viewAs } from '#api/client';
import { Page, type RouteProps } from '#frame';
import { Badge, Button, Empty, List, Time, type Column } from '#ui';
import { Channels } from './channels';
import { EmailSettings } from './email';
import { t } from './messages';
import { keyOf, useNotifications, useReading, type Notification } from './use-notifications';

export default function Notifications({ params: { ws } }: RouteProps<'/w/:ws/notifications'>) {
  return (
    <Page title={t('title')} lead={t('lead')}>
      <EmailSettings ws={ws} />
      {/* As somebody else, other notifications are shown, and none is marked as read. */}
      <Told key={`${ws} ${viewAs.value ?? ''}`} ws={ws} />
    </Page>
  );
}

function Told({ ws }: { ws: string }) {
  const list = useNotifications(ws);
  const unread = useReading(ws, list);
  const columns: readonly Column<Notification>[] = [
    { key: 'what', header: t('what'), isMain: true, cell: (item) => <What item={item} isUnread={unread.has(item.seq)} /> },
    { key: 'code', header: t('code'), cell: ({ code }) => <code class="muted">{code}</code> },
    { key: 'channels', header: t('channels'), cell: ({ deliveries }) => <Channels deliveries={deliveries} /> },
    { key: 'when', header: t('when'), align: 'end', cell: ({ at }) => <span class="muted"><Time at={at} /></span> },
  ];
  return (
    <div class="notifications">
      <List label={t('title')} list={list} columns={columns} id={keyOf} href={(item) => addressOf(ws, item)} empty={<Nothing ws={ws} />} />
    </div>
  );
}

function What({ item, isUnread }: { item: Notification; isUnread: boolean }) {
  return (
    <span class={`notifications-what ${isUnread ? 'is-unread' : ''}`}>
      {isUnread && <Badge tone="info">{t('unread')}</Badge>} <span>{sentence(item)}</span>
      {item.repeats > 0 && <small>{t('repeats', { count: item.repeats })}</small>}
    </span>
  );
}

function sentence({ kind, appName, roadName, connectionName, code }: Notification): string {
  const app = appName ?? t('deleted');
  const connection = connectionName ?? t('deleted');
  switch (kind) {
    case 'app_failing': return t('appFailing', { app });
    case 'automation_failing': return t('automationFailing', { app, automation: roadName ?? t('deleted') });
    case 'approval_needed': return t('approvalNeeded', { app });
    case 'connector_down': return t(code === 'auth_rejected' ? 'secretRejected' : code === 'expired' ? 'permissionEnded' : 'connectionDown', { connection });
  }
}

/** Where it says what happened and what to do. */
function addressOf(ws: string, { appId, connectionId, connectionName, runId }: Notification): string {
  if (connectionId !== null) return connectionName === null ? `/w/${ws}/connections` : `/w/${ws}/connections/${connectionId}`;
  return runId === null ? `/w/${ws}/apps/${appId}` : `/w/${ws}/runs/${runId}`;
}

function Nothing({ ws }: { ws: string }) {
  return <Empty title={t('none')} action={<Button href={`/w/${ws}/runs`}>{t('openRuns')}</Button>}><p>{t('noneBody')}</p></Empty>;
}
