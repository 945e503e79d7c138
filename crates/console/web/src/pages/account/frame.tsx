// The head that the pages of the account share.

import type { ComponentChildren } from 'preact';
import { accountTabs, isReadOnly, Page } from '#frame';
import { t } from './messages';

export function AccountPage({ lead, actions, children }: { lead?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }) {
  return <Page title={t('title')} lead={lead} actions={actions} tabs={accountTabs()}>{children}</Page>;
}

/** Why the person cannot change anything, or `null` if they can. */
export function notWriting(): string | null {
  return isReadOnly.value ? t('readOnly') : null;
}
