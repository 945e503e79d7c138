// The head that the settings share.

import type { ComponentChildren } from 'preact';
import { hasRole, isReadOnly, Page, settingsTabs } from '#frame';
import { t } from './messages';

export function SettingsPage({ ws, lead, actions, children }: { ws: string; lead?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }) {
  return <Page title={t('title')} lead={lead} actions={actions} tabs={settingsTabs(ws)}>{children}</Page>;
}

/** Why the person cannot change anything of their own, or `null` if they can. */
export function notWriting(): string | null {
  return isReadOnly.value ? t('readOnly') : null;
}

/** Why the person cannot change the workspace, or `null` if they can. */
export function notManaging(): string | null {
  return notWriting() ?? (hasRole('admin') ? null : t('adminsOnly'));
}
