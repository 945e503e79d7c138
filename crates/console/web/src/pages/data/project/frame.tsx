// What every page of a project has: its tables and parts on the left, the page beside them.

import type { ComponentChildren } from 'preact';
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, isReadOnly, path } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Icon, Loaded, type Tab } from '#ui';
import { t } from '../messages';

export type Project = Schemas['Project'];
export type Table = Schemas['Table'];

export interface Place {
  readonly ws: string;
  readonly project: Project;
}

export function useProject(id: string): Resource<Project> {
  return useResource('/v1/backend/projects/{projectId}', { path: { projectId: id } }, { on: [`project:${id}`, 'table', 'policy', 'project_key'] });
}

/** Why a person may not change the tables and rows of a project; `null` if they may. */
export function editRefusal({ canEdit }: Project): string | null {
  return isReadOnly.value ? t('viewing') : canEdit ? null : t('mayNotEdit');
}

/** Why a person may not change its rules, keys and settings. */
export function adminRefusal({ canAdmin }: Project): string | null {
  return isReadOnly.value ? t('viewing') : canAdmin ? null : t('mayNotAdmin');
}

export function projectPath(ws: string, project: string): string {
  return `/w/${ws}/data/${project}`;
}

const STORED = 'qala.data.side';

function storedHidden(): boolean {
  try {
    return localStorage.getItem(STORED) === 'hidden';
  } catch {
    return false;
  }
}

/** Whether the tables and parts are hidden, so that a grid has the whole width. */
const isSideHidden = signal(storedHidden());

function toggleSide(): void {
  isSideHidden.value = !isSideHidden.peek();
  try {
    localStorage.setItem(STORED, isSideHidden.peek() ? 'hidden' : 'shown');
  } catch {
    // The choice then lasts as long as the page.
  }
}

interface ProjectPageProps {
  readonly ws: string;
  readonly id: string;
  /** Name of the page, below the project's in the crumbs; the project's own without it. */
  readonly title?: string;
  readonly lead?: ComponentChildren;
  readonly aside?: (project: Project) => ComponentChildren;
  readonly actions?: (project: Project) => ComponentChildren;
  readonly tabs?: readonly Tab[];
  readonly children: (project: Project) => ComponentChildren;
}

export function ProjectPage({ ws, id, title, lead, aside, actions, tabs, children }: ProjectPageProps) {
  const project = useProject(id);
  const { data } = project;
  const crumbs = [{ label: t('title'), href: `/w/${ws}/data` }, ...(title === undefined || data === undefined ? [] : [{ label: data.name, href: projectPath(ws, id) }])];
  return (
    <Page
      title={title ?? data?.name ?? t('project')} crumbs={crumbs} isWide
      {...(lead === undefined ? {} : { lead })} {...(data && aside ? { aside: aside(data) } : {})} {...(data && actions ? { actions: actions(data) } : {})}
    >
      <Loaded resource={project}>
        {(loaded) => (
          <div class={`data-columns ${tabs && isSideHidden.value ? 'is-alone' : ''}`}>
            <Side ws={ws} project={loaded} />
            <div class="data-main">
              {tabs && <TableTabs tabs={tabs} label={title ?? loaded.name} />}
              {children(loaded)}
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function TableTabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  return (
    <nav class="tabs data-tabs" aria-label={label}>
      <span class="data-side-toggle"><Button size="small" variant="plain" icon="panel" label={isSideHidden.value ? t('showTables') : t('hideTables')} onClick={toggleSide} /></span>
      {tabs.map(({ href, label: text, count }) => (
        <a key={href} href={href} aria-current={isAt(href) ? 'page' : undefined}>{text}{count !== undefined && <span class="count">{formatNumber(count)}</span>}</a>
      ))}
    </nav>
  );
}

/** Whether the address is this one, or a panel over it. */
function isAt(href: string): boolean {
  const here = path.value;
  if (here === href) return true;
  const rest = here.startsWith(`${href}/`) ? here.slice(href.length + 1).split('/')[0] : undefined;
  return rest !== undefined && !['rules', 'structure', '-'].includes(rest);
}

function Side({ ws, project }: Place) {
  const base = projectPath(ws, project.id);
  const parts = [
    { href: base, label: t('overview'), isShown: true },
    { href: `${base}/-/api`, label: t('api'), isShown: true },
    { href: `${base}/-/requests`, label: t('requests'), isShown: true },
    { href: `${base}/-/keys`, label: t('keys'), isShown: project.canAdmin },
    { href: `${base}/-/settings`, label: t('settings'), isShown: true },
  ];
  const here = path.value;
  const side = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // On phones the tables and parts are one line that scrolls.
    const current = side.current?.querySelector<HTMLElement>('[aria-current]');
    if (side.current && current) side.current.scrollLeft = current.offsetLeft - side.current.clientWidth / 2;
  }, [here]);
  const isTable = (name: string) => here === `${base}/${name}` || here.startsWith(`${base}/${name}/`);
  return (
    <nav class="data-side" ref={side} aria-label={project.name}>
      <div class="data-side-head">
        <h2>{t('tables')}</h2>
        <Button size="small" variant="plain" icon="plus" label={t('newTable')} href={`${base}/-/new-table`} unavailable={editRefusal(project)} />
      </div>
      <ul>
        {project.tables.map(({ name, rowCount, publicRead }) => (
          <li key={name}>
            <a class="data-side-link" href={`${base}/${name}`} aria-current={isTable(name) ? 'page' : undefined}>
              <span>{name}</span>
              {publicRead && <span class="data-public" title={t('publicTable')}><Icon name="eye" /><span class="hidden-text">{t('publicTable')}</span></span>}
              {rowCount != null && <small>{formatNumber(rowCount)}</small>}
            </a>
          </li>
        ))}
        {project.tables.length === 0 && <li class="muted data-side-none">{t('noTables')}</li>}
      </ul>
      <ul class="data-side-parts">
        {parts.filter(({ isShown }) => isShown).map(({ href, label }) => (
          <li key={href}><a class="data-side-link" href={href} aria-current={here === href || (href !== base && here.startsWith(`${href}/`)) ? 'page' : undefined}><span>{label}</span></a></li>
        ))}
      </ul>
    </nav>
  );
}

interface TablePageProps {
  readonly ws: string;
  readonly id: string;
  readonly table: string;
  readonly actions?: (project: Project, table: Table) => ComponentChildren;
  readonly children: (project: Project, table: Table) => ComponentChildren;
}

/** A page about one table. */
export function TablePage({ ws, id, table: name, actions, children }: TablePageProps) {
  const base = `${projectPath(ws, id)}/${name}`;
  const find = (project: Project) => project.tables.find((table) => table.name === name);
  return (
    <ProjectPage
      ws={ws} id={id} title={name}
      actions={(project) => { const table = find(project); return table && actions?.(project, table); }}
      tabs={[{ href: base, label: t('rows') }, { href: `${base}/rules`, label: t('rules') }, { href: `${base}/structure`, label: t('structure') }]}
    >
      {(project) => {
        const table = find(project);
        return table ? children(project, table) : <MissingTable ws={ws} project={project} name={name} />;
      }}
    </ProjectPage>
  );
}

function MissingTable({ ws, project, name }: Place & { name: string }) {
  return (
    <div class="empty">
      <h2>{t('noSuchTable', { name })}</h2>
      <p class="muted">{t('noSuchTableBody')}</p>
      <div class="empty-action"><Button href={projectPath(ws, project.id)}>{t('toProject')}</Button></div>
    </div>
  );
}
