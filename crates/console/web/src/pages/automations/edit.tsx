// Changing an automation.

import { api } from '#api/client';
import { closePanel, discardUnsaved, toast, useAction, type RouteProps } from '#frame';
import { Button, CopyCall, Loaded, Panel, ProblemView } from '#ui';
import { useAutomation, useRights, type Automation } from './automation-page';
import { bodyOf, draftOf } from './draft';
import { Fields } from './form';
import { t } from './messages';
import { useDraft } from './use-draft';

export default function EditAutomation({ params: { id } }: RouteProps<'/w/:ws/automations/:id/edit'>) {
  const automation = useAutomation(id);
  if (!automation.data) return <Panel title={t('editTitle')}><Loaded resource={automation}>{() => null}</Loaded></Panel>;
  return <Edit key={id} automation={automation.data} saved={automation.refresh} />;
}

function Edit({ automation, saved }: { automation: Automation; saved: () => void }) {
  const { mayEdit } = useRights(automation.appId);
  const { draft, change, mistakes, check, seen } = useDraft(draftOf(automation), automation);
  const save = useAction(async () => {
    if (!check() || !(await seen.mayOverwrite(bodyOf(draft), () => change(null)))) return;
    await api.patch('/v1/automations/{id}', { path: { id: automation.id }, body: bodyOf(draft) }, seen.precondition());
    discardUnsaved();
    saved();
    toast(t('savedNow'));
    closePanel();
  }, { shows: 'inline' });
  const submit = (event: Event) => {
    event.preventDefault();
    if (mayEdit) void save.run();
  };
  const actions = (
    <>
      <CopyCall call={{ method: 'PATCH', url: `/v1/automations/${automation.id}`, body: bodyOf(draft) }} />
      <Button onClick={closePanel}>{t('back')}</Button>
      <Button type="submit" form="edit-automation" variant="primary" busy={save.busy} unavailable={mayEdit ? null : t('mayNotEdit')}>{t('save')}</Button>
    </>
  );
  return (
    <Panel title={t('editTitle')} actions={actions}>
      <form id="edit-automation" noValidate onSubmit={submit}><Fields draft={draft} mistakes={mistakes} onChange={change} /></form>
      {seen.notice(save.busy)}
      {save.problem && <ProblemView problem={save.problem} />}
    </Panel>
  );
}
