// The head that the pages about people share.

import type { ComponentChildren } from 'preact';
import { hasRole, isReadOnly, Page } from '#frame';
import { Button } from '#ui';
import { t } from './messages';

/** Why the person cannot manage people, or `null` if they can. */
export function notManaging(): string | null {
  if (isReadOnly.value) return t('readOnly');
  return hasRole('admin') ? null : t('adminsOnly');
}

export function PeoplePage({ ws, children }: { ws: string; children: ComponentChildren }) {
  const base = `/w/${ws}/people`;
  const tabs = [
    { href: base, label: t('members') },
    ...(hasRole('admin') ? [{ href: `${base}/invites`, label: t('invites') }, { href: `${base}/domain`, label: t('domain') }] : []),
  ];
  const invite = hasRole('admin') && <Button variant="primary" icon="plus" href={`${base}/invites/new`} unavailable={notManaging()}>{t('invite')}</Button>;
  return <Page title={t('title')} lead={t('lead')} actions={invite} tabs={tabs}>{children}</Page>;
}

/** What is shown in place of a part that is for admins. */
export function AdminsOnly() {
  return <p class="people-admins muted">{t('adminsOnly')}</p>;
}
