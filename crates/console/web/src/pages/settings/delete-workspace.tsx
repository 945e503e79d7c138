import { api } from '#api/client';
import { hasRole, loadSession, navigate, ownRole, toast, toastProblem, useAction, workspace } from '#frame';
import { Button, Card, confirm } from '#ui';
import { notWriting } from './frame';
import { t } from './messages';

/** The end of a workspace, for its owners. */
export function DeleteWorkspace({ ws }: { ws: string }) {
  const name = workspace.value?.name ?? '';
  const restore = async () => {
    await api.post('/v1/workspaces/{ws}/restore', { path: { ws } });
    await loadSession();
    await navigate(`/w/${ws}/settings`);
  };
  const remove = useAction(async () => {
    if (!(await confirm({ title: t('deleteTitle', { name }), body: <p>{t('deleteBody')}</p>, action: t('delete'), typed: name, tone: 'bad' }))) return;
    await api.delete('/v1/workspaces/{ws}', { path: { ws }, body: { confirmName: name } });
    await loadSession();
    await navigate('/account/workspaces');
    toast(t('deleted', { name }), { action: { label: t('restore'), run: () => void restore().catch(toastProblem) } });
  });
  if (!hasRole('owner') && ownRole.value !== 'owner') return null;
  return (
    <Card title={t('deleteHeading')}>
      <div class="card-body settings-danger">
        <p>{t('deleteLead')}</p>
        <Button variant="danger" busy={remove.busy} unavailable={notWriting()} onClick={() => void remove.run()}>{t('delete')}</Button>
      </div>
    </Card>
  );
}
