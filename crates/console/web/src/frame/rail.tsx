// The rail on the left: the workspace, its pages, and the person.

import { signal } from '@preact/signals';
import { viewAs, type ViewAs } from '#api/client';
import { inLocale } from '#i18n';
import { Avatar } from '#ui/avatar';
import { Icon } from '#ui/icon';
import { Menu, type MenuItems } from '#ui/menu';
import { keysShown, useCommands } from './commands';
import { openHelp } from './help';
import { t } from './messages';
import { useNewestNotification } from './notifications';
import { useOverview } from './overview';
import type { RailEntry, RailFacts } from './page';
import { openPalette } from './palette';
import { railEntries as entries, workspacePath } from './places';
import { navigate, path } from './router';
import { hasRole, ownRole, session, signOut, workspace, workspaces } from './session';
import { setTheme, theme, type Theme } from './theme';


const STORED = 'qala.rail';

function storedCollapse(): boolean {
  try {
    return localStorage.getItem(STORED) === 'collapsed';
  } catch {
    return false;
  }
}

/** Whether the rail shows icons only. */
export const isCollapsed = signal(storedCollapse());

/** Whether the rail is open over the page, on phones. */
export const isDrawerOpen = signal(false);

function toggleCollapsed(): void {
  isCollapsed.value = !isCollapsed.peek();
  try {
    localStorage.setItem(STORED, isCollapsed.peek() ? 'collapsed' : 'open');
  } catch {
    // The choice then lasts as long as the page.
  }
}

export function Rail() {
  const ws = workspace.value?.id ?? null;
  const overview = useOverview(ws);
  const newest = useNewestNotification(ws);
  const facts: RailFacts | null = overview.data ? { overview: overview.data, unread: newest.data?.unread ?? 0 } : null;
  useCommands([
    ...entries.filter(() => ws !== null).map((entry) => ({
      id: `go${entry.to}`, label: t('goTo', { page: inLocale(entry.label) }), group: t('groupGo'), run: () => void navigate(`/w/${ws}${entry.to}`),
      ...(entry.key === undefined ? {} : { keys: `g ${entry.key}` }),
    })),
    { id: 'frame.rail', label: t('toggleRail'), keys: '[', group: t('groupFrame'), run: toggleCollapsed },
  ]);
  return (
    <nav class="rail" aria-label={t('navigation')} onClick={(event) => { if (event.target instanceof Element && event.target.closest('a')) isDrawerOpen.value = false; }}>
      <WorkspaceSwitcher />
      <ul class="rail-pages">
        {ws !== null && entries.map((entry) => <li key={entry.to}><RailLink entry={entry} href={`/w/${ws}${entry.to}`} facts={facts} /></li>)}
      </ul>
      <div class="rail-end">
        <button type="button" class="rail-link" onClick={openPalette}><Icon name="search" /><span>{t('search')}</span><kbd>{keysShown('mod+k')}</kbd></button>
        <button type="button" class="rail-link" onClick={openHelp}><Icon name="help" /><span>{t('help')}</span><kbd>?</kbd></button>
        <PersonMenu />
      </div>
    </nav>
  );
}

function RailLink({ entry, href, facts }: { entry: RailEntry; href: string; facts: RailFacts | null }) {
  const here = path.value;
  const isHere = entry.to === '' ? here === href : here === href || here.startsWith(`${href}/`);
  const count = facts === null ? null : (entry.count?.(facts) ?? null);
  const label = inLocale(entry.label);
  return (
    <a class="rail-link" href={href} aria-current={isHere ? 'page' : undefined} data-tip={isCollapsed.value ? label : undefined}>
      <Icon d={entry.icon} /><span>{label}</span>
      {count !== null && count.value > 0 && <b class={`rail-count ${count.tone ? `is-${count.tone}` : ''}`} title={inLocale(count.label)}>{count.value}<span class="hidden-text"> {inLocale(count.label)}</span></b>}
    </a>
  );
}

function WorkspaceSwitcher() {
  const current = workspace.value;
  const items: MenuItems = [
    ...workspaces.value.map((item) => ({ label: item.name, checked: item.id === current?.id, detail: t('members', { count: item.memberCount }), onSelect: () => void navigate(workspacePath(item.id)) })),
    null,
    { label: t('newWorkspace'), icon: 'plus', href: '/welcome' },
  ];
  const name = current?.name ?? t('noWorkspace');
  return (
    <Menu
      class="rail-workspace" items={items}
      trigger={(attributes) => (
        <button type="button" class="rail-switcher" {...attributes} data-tip={isCollapsed.value ? name : undefined}>
          <span class="rail-mark" aria-hidden="true">{[...name][0]?.toUpperCase()}</span><span class="rail-name"><span class="hidden-text">{t('workspace')} </span>{name}</span><Icon name="down" />
        </button>
      )}
    />
  );
}

const VIEWS: readonly ViewAs[] = ['builder', 'member', 'viewer'];

function PersonMenu() {
  const user = session.value?.user;
  if (!user) return null;
  const themes: readonly Theme[] = ['system', 'light', 'dark'];
  const items: MenuItems = [
    { label: t('account'), icon: 'gear', href: '/account' },
    ...(hasRole('admin') || viewAs.value !== null ? [
      null,
      ...VIEWS.map((as) => ({ label: t('viewAs', { role: t(`role_${as}`) }), checked: viewAs.value === as, onSelect: () => { viewAs.value = viewAs.peek() === as ? null : as; } })),
    ] : []),
    null,
    ...themes.map((name) => ({ label: t(`theme_${name}`), checked: theme.value === name, onSelect: () => setTheme(name) })),
    null,
    { label: t('signOut'), icon: 'out', onSelect: () => void signOut() },
  ];
  return (
    <Menu
      class="rail-person" items={items}
      trigger={(attributes) => (
        <button type="button" class="rail-link" {...attributes}>
          <Avatar user={user} size="small" /><span>{user.name}</span>{ownRole.value && <small>{t(`role_${ownRole.value}`)}</small>}
        </button>
      )}
    />
  );
}
