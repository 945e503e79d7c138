// What all pages about one app have around them: its name and state, its tabs, its menu.

import type { ComponentChildren } from 'preact';
import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, isReadOnly, navigate, useCommands } from '#frame';
import { ObjectMenu, Loaded, AppStatus, Copyable, type MenuItems } from '#ui';
import { t } from './messages';

export type App = Schemas['App'];
export type Right = Schemas['AppRightName'];

/** Reads an app, and follows it: a new version changes the app, and what happens to it changes its state. A response tells no event. */
export function useApp(id: string): Resource<App> {
  return useResource('/v1/apps/{id}', { path: { id } }, { on: [`app:${id}`, `health:${id}`], every: 60_000 });
}

/** Returns why the person may not do what needs this right, or `null` if they may. */
export function missingRight({ rights }: App, right: Right): string | null {
  if (isReadOnly.value) return t('readOnly');
  return rights.includes(right) ? null : t(`need_${right}`);
}

interface AppPageProps {
  readonly ws: string;
  readonly id: string;
  /** Part of the app that the page shows; the overview has none. */
  readonly part?: string;
  readonly actions?: ComponentChildren;
  readonly items?: MenuItems;
  readonly isWide?: boolean;
  readonly children: (app: App) => ComponentChildren;
}

function tabsOf(ws: string, { id, rights }: App, part: string | undefined) {
  const at = `/w/${ws}/apps/${id}`;
  return [
    { href: at, label: t('overview') },
    { href: `${at}/code`, label: t('code') },
    { href: `${at}/versions`, label: t('versions'), isCurrent: part === 'versions' },
    ...(rights.includes('can_share') ? [{ href: `${at}/access`, label: t('access') }] : []),
    ...(rights.includes('can_edit') ? [{ href: `${at}/changes`, label: t('changes'), isCurrent: part === 'changes' }, { href: `${at}/secrets`, label: t('secrets') }, { href: `${at}/logs`, label: t('logs') }, { href: `${at}/settings`, label: t('settings') }] : []),
  ];
}

export function AppPage({ ws, id, part, actions, items, isWide = false, children }: AppPageProps) {
  const resource = useApp(id);
  const app = resource.data;
  const tabs = app ? tabsOf(ws, app, part) : [];
  useCommands(tabs.map(({ href, label }) => ({ id: `apps.part.${href}`, label: t('goTo', { app: app?.name ?? '', part: label }), run: () => void navigate(href) })));
  const list = { label: t('title'), href: `/w/${ws}/apps` };
  if (!app) return <Page title={t('app')} crumbs={[list]}><Loaded resource={resource}>{() => null}</Loaded></Page>;
  return (
    <Page
      title={app.name}
      aside={<><AppStatus app={app} ws={ws} /><Copyable value={app.id} /></>}
      crumbs={part === undefined ? [list] : [list, { label: app.name, href: `/w/${ws}/apps/${id}` }]}
      actions={<>{actions}<ObjectMenu url={`/v1/apps/${id}`} value={app} {...(items === undefined ? {} : { items })} /></>}
      tabs={tabs}
      isWide={isWide}
    >
      {children(app)}
    </Page>
  );
}
