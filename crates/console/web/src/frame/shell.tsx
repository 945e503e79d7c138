// Everything around a page.

import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { pages } from 'virtual:pages';
import { latestChange } from '#api/client';
import { asCurl } from '#api/copy';
import { followWorkspace } from '#api/events';
import { Problem } from '#api/problem';
import { inLocale, locale, LOCALE_NAMES, LOCALES, setLocale } from '#i18n';
import { Button } from '#ui/button';
import { copyText } from '#ui/copyable';
import { Dialogs } from '#ui/dialog';
import { Empty, ProblemView, Skeleton } from '#ui/feedback';
import { Icon } from '#ui/icon';
import { NavigationProgress, OfflineBar, SessionBar, ViewAsBar } from './bars';
import { Boundary } from './boundary';
import { useCommands } from './commands';
import { openHelp } from './help';
import { t } from './messages';
import { openPalette } from './palette';
import { Rail, isCollapsed, isDrawerOpen } from './rail';
import { navigate, view, type View } from './router';
import { followMembership, rememberWorkspace, session, signInPath, signOut, workspace, workspaceId, workspaces } from './session';
import { setTheme, shownTheme } from './theme';
import { Toasts, toast } from './toasts';

const pageCommands = pages.flatMap(({ page }) => page.commands ?? []);

/** Copies what the person did last, for actions without a menu of their own. */
async function copyLatest(): Promise<void> {
  const call = latestChange.peek();
  if (call !== null && (await copyText(asCurl(call)))) toast(t('copiedLatest', { call: `${call.method} ${call.url}` }));
}

export function Shell() {
  const shown = view.value;
  const ws = workspaceId.value;
  useEffect(() => { document.documentElement.lang = locale.value; }, [locale.value]);
  useEffect(followMembership, []);
  useEffect(() => {
    const isMember = session.value && workspaces.value.some((item) => item.id === ws);
    followWorkspace(isMember ? ws : null);
    if (ws !== null && isMember) rememberWorkspace(ws);
  }, [ws, session.value, workspaces.value]);
  useCommands([
    { id: 'frame.palette', label: t('palette'), keys: 'mod+k', group: t('groupFrame'), isHidden: true, run: openPalette },
    { id: 'frame.help', label: t('shortcuts'), keys: '?', group: t('groupFrame'), run: openHelp },
    { id: 'frame.theme', label: t('switchTheme'), group: t('groupFrame'), run: () => setTheme(shownTheme() === 'dark' ? 'light' : 'dark') },
    ...LOCALES.filter((name) => name !== locale.value).map((name) => ({ id: `frame.locale.${name}`, label: LOCALE_NAMES[name], group: t('language'), run: () => setLocale(name) })),
    { id: 'frame.copyCurl', label: t('copyLatestCurl'), group: t('groupFrame'), when: () => latestChange.value !== null, run: () => void copyLatest() },
    { id: 'frame.signOut', label: t('signOut'), group: t('groupFrame'), when: () => session.value !== null, run: () => void signOut() },
    ...pageCommands.map((command, index) => ({
      id: `page.${index}`, label: inLocale(command.label), when: () => workspace.value !== null,
      run: () => void navigate(command.to.startsWith('/account') ? command.to : `/w/${workspace.value?.id}${command.to}`),
      ...(command.keys === undefined ? {} : { keys: command.keys }),
    })),
  ]);
  return (
    <>
      <NavigationProgress />
      <Content shown={shown} />
      <Toasts />
      <Dialogs />
    </>
  );
}

function Content({ shown }: { shown: View | 'missing' | Problem | null }) {
  if (shown === null || session.value === undefined) return null;
  if (shown instanceof Problem) return <Narrow><ProblemView problem={shown} onRetry={() => location.reload()} /></Narrow>;
  if (shown === 'missing') return <Narrow><Missing /></Narrow>;
  if (shown.route.layout === 'narrow') return <Narrow><PageOf shown={shown} /></Narrow>;
  if (session.value === null) return <SignedOut />;
  return <Workspace shown={shown} />;
}

function PageOf({ shown }: { shown: View }) {
  const { Component } = shown;
  return <Boundary key={shown.route.path}><Component params={shown.params} /></Boundary>;
}

function Workspace({ shown }: { shown: View }) {
  const isStranger = shown.route.layout === 'workspace' && workspaceId.value !== null && !workspaces.value.some((item) => item.id === workspaceId.value);
  const panel = shown.panel;
  return (
    <div class={`shell ${isCollapsed.value ? 'is-collapsed' : ''} ${isDrawerOpen.value ? 'is-drawer-open' : ''} ${panel ? 'has-panel' : ''}`}>
      <a class="skip" href="#main">{t('skip')}</a>
      <Rail />
      <button type="button" class="drawer-backdrop" tabIndex={-1} aria-hidden="true" onClick={() => { isDrawerOpen.value = false; }} />
      <div class="shell-main">
        <header class="phone-bar">
          <button type="button" class="icon-button" aria-label={t('navigation')} aria-expanded={isDrawerOpen.value} onClick={() => { isDrawerOpen.value = !isDrawerOpen.peek(); }}><Icon name="menu" /></button>
          <span>{workspace.value?.name}</span>
          <button type="button" class="icon-button" aria-label={t('search')} onClick={openPalette}><Icon name="search" /></button>
        </header>
        <OfflineBar />
        <SessionBar />
        <ViewAsBar />
        <main id="main" tabIndex={-1}>{isStranger ? <Stranger /> : <PageOf shown={shown} />}</main>
      </div>
      {panel && !isStranger && <Boundary key={panel.path}><panel.Component params={panel.params} /></Boundary>}
    </div>
  );
}

/** One column, for what a person does once. */
function Narrow({ children }: { children: ComponentChildren }) {
  return (
    <div class="narrow">
      <main id="main">
        <p class="narrow-mark"><img src="/pages/logo.svg" alt="" width="24" height="24" />Qala</p>
        {children}
      </main>
      <nav class="narrow-languages" aria-label={t('language')}>
        {LOCALES.map((name) => <button key={name} type="button" lang={name} aria-pressed={locale.value === name} onClick={() => setLocale(name)}>{LOCALE_NAMES[name]}</button>)}
      </nav>
    </div>
  );
}

function SignedOut() {
  useEffect(() => location.replace(signInPath()), []);
  return <Narrow><Skeleton lines={3} /></Narrow>;
}

function Missing() {
  return <Empty title={t('missingTitle')} action={<Button href="/" variant="primary">{t('missingAction')}</Button>}><p>{t('missingBody')}</p></Empty>;
}

function Stranger() {
  return <Empty title={t('strangerTitle')} action={<Button href="/" variant="primary">{t('missingAction')}</Button>}><p>{t('strangerBody')}</p></Empty>;
}
