// The apps of a workspace.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useFiltered } from '#api/filtered';
import { useList } from '#api/list';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, hasRole, isReadOnly, query, setQuery, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { AppStatus, Button, Empty, FilterBar, List, TextField, Time, knownState, now, type Column } from '#ui';
import type { App } from './app-page';
import { t } from './messages';
import { APP_STATES, CATEGORIES, SHARINGS, Trust, archetypeText } from './status';

const PAGE = 200;
const FILTERS = ['status', 'category', 'sharing', 'q'] as const;

export default function Apps({ params: { ws } }: RouteProps<'/w/:ws/apps'>) {
  const list = useList('/v1/workspaces/{ws}/apps', { path: { ws }, query: { limit: PAGE } }, { on: ['app', 'health'] });
  const create = <Button variant="primary" icon="plus" href={`/w/${ws}/apps/new`} unavailable={mayNotCreate()}>{t('newApp')}</Button>;
  return (
    <Page title={t('title')} lead={t('lead')} actions={<><Button href={`/w/${ws}/imports`}>{t('imports')}</Button><Button href={`/w/${ws}/apps/templates`}>{t('templates')}</Button>{create}</>}>
      <Filters ws={ws} />
      <List label={t('title')} list={useFiltered(list, filter())} columns={columns()} id={({ id }) => id} href={({ id }) => `/w/${ws}/apps/${id}`} empty={<NoApps hasAny={list.items.length > 0} create={create} />} />
    </Page>
  );
}

function mayNotCreate(): string | null {
  if (isReadOnly.value) return t('readOnly');
  return hasRole('builder') ? null : t('mayNotCreate');
}

/** Returns whether an app fits the query of the address, or `null` without a filter in it. The API has no filters for apps. */
function filter(): ((app: App) => boolean) | null {
  if (!FILTERS.some((name) => query.value.get(name))) return null;
  const value = (name: (typeof FILTERS)[number]) => query.value.get(name);
  const text = value('q')?.toLowerCase() ?? '';
  return (app) =>
    (value('status') === null || knownState(app, now.value) === value('status'))
    && (['category', 'sharing'] as const).every((name) => value(name) === null || app[name] === value(name))
    && (text === '' || `${app.name}\n${app.description}\n${app.slug}`.toLowerCase().includes(text));
}

function Filters({ ws }: { ws: string }) {
  const options = (names: readonly string[], label: (name: string) => string) => names.map((value) => ({ value, label: label(value) }));
  return (
    <FilterBar
      views={`apps.${ws}`}
      filters={[
        { name: 'status', label: t('status'), options: options(APP_STATES, (name) => t.find(`status_${name}`) ?? name) },
        { name: 'category', label: t('category'), options: options(CATEGORIES, (name) => t.find(`category_${name}`) ?? name) },
        { name: 'sharing', label: t('sharing'), options: options(SHARINGS, (name) => t.find(`sharing_${name}`) ?? name) },
      ]}
    >
      <div class="apps-search"><TextField label={t('search')} isLabelHidden type="search" placeholder={t('search')} value={query.value.get('q') ?? ''} onInput={(q) => setQuery({ q })} /></div>
    </FilterBar>
  );
}

function columns(): readonly Column<App>[] {
  return [
    { key: 'name', header: t('app'), isMain: true, cell: (app) => <span class="apps-name">{app.name}<small>{app.description}</small></span> },
    { key: 'status', header: t('status'), cell: (app) => <AppStatus app={app} /> },
    { key: 'kind', header: t('archetype'), hide: 'tablet', cell: ({ archetype, category }) => <span class="muted">{t('kindOf', { archetype: archetypeText(archetype), category: t(`category_${category}`) })}</span> },
    { key: 'sharing', header: t('sharing'), hide: 'tablet', cell: ({ sharing }) => <span class="muted">{t(`sharing_${sharing}`)}</span> },
    { key: 'trust', header: t('trust'), hide: 'phone', cell: (app) => <LastVersion app={app} show={(version) => <Trust score={version.trustScore} band={version.trustBand} />} /> },
    { key: 'version', header: t('lastVersion'), align: 'end', cell: (app) => <LastVersion app={app} show={(version) => <span class="muted">{t.rich('versionWhen', { number: formatNumber(version.number), when: <Time at={version.createdAt} /> })}</span>} /> },
  ];
}

/** Reads the newest version of an app once its row has come into sight; the list of apps has none. */
function LastVersion({ app, show }: { app: App; show: (version: Schemas['AppVersion']) => ComponentChildren }) {
  const element = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver((entries) => { if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true); }, { rootMargin: '200px' });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const isRead = isSeen && app.currentVersionId !== null;
  const versions = useResource('/v1/apps/{id}/versions', isRead ? { path: { id: app.id }, query: { limit: 1 } } : null, { on: [`app:${app.id}`] });
  const newest = versions.data?.versions[0];
  return <span ref={element} class="apps-version">{newest ? show(newest) : app.currentVersionId === null ? <span class="muted">–</span> : null}</span>;
}

function NoApps({ hasAny, create }: { hasAny: boolean; create: ComponentChildren }) {
  if (hasAny) {
    const clear = () => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])));
    return <Empty title={t('noneFound')} action={<Button onClick={clear}>{t('showAll')}</Button>} />;
  }
  return <Empty title={t('none')} action={create}><p>{t('noneBody')}</p></Empty>;
}
