// The head that the pages of the account share.

import type { ComponentChildren } from 'preact';
import { accountTabs, isReadOnly, Page } from '#frame';
import { t } from './messages';

/** Milliseconds until lists are read again. What belongs to a person and to no workspace has no stream of events. */
export const LOOK_AGAIN = 2_000;

export function AccountPage({ lead, actions, children }: { lead?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }) {
  return <Page title={t('title')} lead={lead} actions={actions} tabs={accountTabs()}>{children}</Page>;
}

/** Why the person cannot change anything, or `null` if they can. */
export function notWriting(): string | null {
  return isReadOnly.value ? t('readOnly') : null;
}
