// Where pages are.

import { pages } from 'virtual:pages';
import { inLocale } from '#i18n';
import type { Tab } from '#ui/tabs';
import type { RailEntry, Section } from './page';

const byOrder = (a: { readonly order: number }, b: { readonly order: number }) => a.order - b.order;

/** Entries of the rail, in their order. */
export const railEntries: readonly RailEntry[] = pages.flatMap(({ page }) => page.rail ?? []).sort(byOrder);

/** Sections of the settings, in their order. */
export const settingsSections: readonly Section[] = pages.flatMap(({ page }) => page.settings ?? []).sort(byOrder);

/** Sections of the account, in their order. */
export const accountSections: readonly Section[] = pages.flatMap(({ page }) => page.account ?? []).sort(byOrder);

/** Returns the address of a workspace: its first page. */
export function workspacePath(ws: string): string {
  return `/w/${ws}${railEntries[0]?.to ?? ''}`;
}

/** Returns the sections of a workspace's settings as tabs of their pages. */
export function settingsTabs(ws: string): readonly Tab[] {
  return settingsSections.map(({ label, to }) => ({ label: inLocale(label), href: `/w/${ws}/settings${to}` }));
}

/** Returns the sections of the account as tabs of their pages. */
export function accountTabs(): readonly Tab[] {
  return accountSections.map(({ label, to }) => ({ label: inLocale(label), href: `/account${to}` }));
}
