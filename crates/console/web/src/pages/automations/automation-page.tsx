// What all pages of one automation have in common: its name, its actions, its tabs.

import type { ComponentChildren } from 'preact';
import { api } from '#api/client';
import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, discardUnsaved, isReadOnly, navigate, toast, useAction, useCommands } from '#frame';
import { Button, Copyable, Loaded, ObjectMenu, confirm, type MenuItems } from '#ui';
import { AutomationStatus } from './automation-status';
import { t } from './messages';

export type Automation = Schemas['Automation'];

/** What the person may do with the automation, as the rights on its app say. */
export interface Rights {
  readonly mayEdit: boolean;
  readonly mayRun: boolean;
}

interface Shown {
  readonly automation: Automation;
  readonly appName: string;
  readonly rights: Rights;
}

export function useAutomation(id: string): Resource<Automation> {
  return useResource('/v1/automations/{id}', { path: { id } }, { on: [`automation:${id}`, `automation-runs:${id}`] });
}

/** Returns what the person may do with the app. Until it was read, nothing. */
export function useRights(appId: string | undefined): Rights & { readonly appName: string } {
  const app = useResource('/v1/apps/{id}', appId === undefined ? null : { path: { id: appId } }, { on: [`app:${appId}`] });
  const rights = isReadOnly.value ? [] : app.data?.rights ?? [];
  return { appName: app.data?.name ?? '', mayEdit: rights.includes('can_edit'), mayRun: rights.includes('can_run') };
}

export function AutomationPage({ ws, id, children }: { ws: string; id: string; children: (shown: Shown) => ComponentChildren }) {
  const automation = useAutomation(id);
  const { appName, ...rights } = useRights(automation.data?.appId);
  const crumbs = [{ label: t('title'), href: `/w/${ws}/automations` }];
  if (!automation.data) return <Page title={t('automation')} crumbs={crumbs}><Loaded resource={automation}>{() => null}</Loaded></Page>;
  const shown = { automation: automation.data, appName, rights };
  return (
    <Page
      title={automation.data.name} crumbs={crumbs} tabs={tabsOf(ws, automation.data)}
      aside={<><AutomationStatus status={automation.data.status} /><Copyable value={id} /></>}
      actions={<Actions ws={ws} automation={automation.data} rights={rights} refresh={automation.refresh} />}
    >
      {children(shown)}
    </Page>
  );
}

function tabsOf(ws: string, { id, trigger }: Automation) {
  const base = `/w/${ws}/automations/${id}`;
  const tabs = [{ href: base, label: t('overview') }];
  if (trigger.type === 'schedule') tabs.push({ href: `${base}/schedule`, label: t('schedule') });
  if (trigger.type === 'webhook' || trigger.type === 'form') tabs.push({ href: `${base}/webhook`, label: trigger.type === 'form' ? t('form') : t('webhook') });
  return tabs;
}

function Actions({ ws, automation, rights, refresh }: { ws: string; automation: Automation; rights: Rights; refresh: () => void }) {
  const { id, name, status } = automation;
  const base = `/w/${ws}/automations/${id}`;
  const isActive = status === 'active';
  const set = async (next: Automation['status']) => {
    await api.patch('/v1/automations/{id}', { path: { id }, body: { status: next } });
    refresh();
  };
  const undo = useAction(set);
  const toggle = useAction(async () => {
    await set(isActive ? 'paused' : 'active');
    toast(isActive ? t('pausedNow', { name }) : t('resumedNow', { name }), { action: { label: t('undo'), run: () => void undo.run(status) } });
  });
  const remove = useAction(async () => {
    if (!(await confirm({ title: t('deleteTitle', { name }), body: t('deleteBody'), action: t('delete'), tone: 'bad', typed: name }))) return;
    await api.delete('/v1/automations/{id}', { path: { id } });
    discardUnsaved();
    toast(t('deleted', { name }));
    await navigate(`/w/${ws}/automations`);
  });
  const edit = () => void navigate(`${base}/edit`);
  const runNow = () => void navigate(`${base}/run`);
  const mayNotEdit = rights.mayEdit ? null : t('mayNotEdit');
  const mayNotRun = rights.mayRun ? null : t('mayNotRun');
  useCommands([
    { id: 'automation.run', label: t('runNow'), keys: 'r', when: () => rights.mayRun, run: runNow },
    { id: 'automation.edit', label: t('edit'), keys: 'e', when: () => rights.mayEdit, run: edit },
    { id: 'automation.toggle', label: isActive ? t('pause') : t('resume'), when: () => rights.mayEdit, run: () => void toggle.run() },
  ]);
  const items: MenuItems = [
    { label: t('edit'), icon: 'edit', unavailable: mayNotEdit, onSelect: edit },
    { label: t('asTool'), icon: 'play', onSelect: () => void navigate(`/w/${ws}/tools/${id}`) },
    { label: t('delete'), icon: 'trash', tone: 'bad', unavailable: mayNotEdit, onSelect: () => void remove.run() },
  ];
  return (
    <>
      <Button icon={isActive ? 'pause' : 'play'} busy={toggle.busy || undo.busy} unavailable={mayNotEdit} onClick={() => void toggle.run()}>{isActive ? t('pause') : t('resume')}</Button>
      <Button variant="primary" icon="play" command="automation.run" unavailable={mayNotRun} onClick={runNow}>{t('runNow')}</Button>
      <ObjectMenu url={`/v1/automations/${id}`} value={automation} items={items} />
    </>
  );
}
