// Where pages are.

import { pages } from 'virtual:pages';
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
