// Creating an automation.

import { useAll } from '#api/all';
import { api, urlOf } from '#api/client';
import type { Schemas } from '#api/types';
import { closePanel, discardUnsaved, isReadOnly, navigate, query, toast, useAction, type RouteProps } from '#frame';
import { Button, CopyCall, Empty, Loaded, Panel, ProblemView, Select } from '#ui';
import { bodyOf, newDraft } from './draft';
import { Fields } from './form';
import { t } from './messages';
import { useDraft } from './use-draft';

export default function NewAutomation({ params: { ws } }: RouteProps<'/w/:ws/automations/new'>) {
  const { items, error, refresh } = useAll<Schemas['App']>(urlOf('/v1/workspaces/{ws}/apps', { path: { ws } }), ['app']);
  if (!items) return <Panel title={t('create')}><Loaded resource={{ data: items, error, refresh }}>{() => null}</Loaded></Panel>;
  const editable = items.filter(({ rights }) => rights.includes('can_edit'));
  if (editable.length > 0 && !isReadOnly.value) return <Create ws={ws} apps={editable} />;
  return <Panel title={t('create')}><Empty title={t('noApp')} action={<Button href={`/w/${ws}/apps`}>{t('openApps')}</Button>}><p>{t('noAppBody')}</p></Empty></Panel>;
}

function Create({ ws, apps }: { ws: string; apps: readonly Schemas['App'][] }) {
  const asked = query.value.get('app');
  const first = apps.find(({ id }) => id === asked) ?? apps[0];
  const { draft, change, mistakes, check } = useDraft(newDraft(first?.id ?? ''));
  const create = useAction(async () => {
    if (!check()) return;
    const automation = await api.post('/v1/workspaces/{ws}/automations', { path: { ws }, body: { appId: draft.appId, ...bodyOf(draft) } });
    discardUnsaved();
    toast(t('createdNow', { name: automation.name }));
    const hasCalls = draft.type === 'webhook' || draft.type === 'form';
    await navigate(`/w/${ws}/automations/${automation.id}${hasCalls ? '/webhook' : ''}`);
  }, { shows: 'inline' });
  const submit = (event: Event) => {
    event.preventDefault();
    void create.run();
  };
  const actions = (
    <>
      <CopyCall call={{ method: 'POST', url: `/v1/workspaces/${ws}/automations`, body: { appId: draft.appId, ...bodyOf(draft) } }} />
      <Button onClick={closePanel}>{t('back')}</Button>
      <Button type="submit" form="new-automation" variant="primary" busy={create.busy}>{t('create')}</Button>
    </>
  );
  const app = <Select label={t('app')} options={apps.map(({ id, name }) => ({ value: id, label: name }))} value={draft.appId} onChange={(appId) => change({ ...draft, appId })} error={mistakes.appId} />;
  return (
    <Panel title={t('create')} actions={actions}>
      <form id="new-automation" noValidate onSubmit={submit}><Fields draft={draft} mistakes={mistakes} onChange={change} app={app} /></form>
      {create.problem && <ProblemView problem={create.problem} />}
    </Panel>
  );
}
