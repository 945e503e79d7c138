// Going back to an earlier version, and the times at which somebody did.

import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { toast, useAction, type Action } from '#frame';
import { Button, Card, Dialog, Time, confirm, openDialog } from '#ui';
import type { App } from '../app-page';
import type { Version } from './find';
import { t } from './messages';

/** Makes a version current, once the person has read from which one the app goes away. */
export function useRollBack(app: App | undefined, version: Version | undefined, refresh: () => void): Action<[]> {
  return useAction(async () => {
    if (app === undefined || version === undefined || app.currentVersionId === null) return;
    const from = app.currentVersionId;
    const current = await api.get('/v1/apps/{id}/versions/{versionId}', { path: { id: app.id, versionId: from } });
    const numbers = { from: current.number, to: version.number };
    if (!(await confirm({ title: t('rollBackTitle', numbers), body: <><p>{t('rollBackBody', numbers)}</p><p>{t('rollBackAutomations', numbers)}</p></>, action: t('rollBack') }))) return;
    const moved = await api.post('/v1/apps/{id}/versions/{versionId}/rollback', {
      path: { id: app.id, versionId: version.id }, body: { expectCurrentVersionId: from },
    });
    refresh();
    const title = t('rolledBack', { number: version.number });
    if (moved.automations.length + moved.remains.length + moved.needsConsole.length === 0) toast(title);
    // A toast would be gone before somebody has read which automations were paused.
    else void openDialog((close) => <Consequences title={title} moved={moved} close={close} />);
  });
}

/** What a rollback did to automations, what it left as it is, and what is left to do. */
function Consequences({ title, moved: { automations, remains, needsConsole }, close }: { title: string; moved: Schemas['RolledBack']; close: () => void }) {
  return (
    <Dialog title={title} onClose={close} actions={<Button variant="primary" autofocus onClick={close}>{t('done')}</Button>}>
      <div class="version-consequences">
        <Sentences title={t('automations')} sentences={automations.map(({ sentence }) => sentence)} />
        <Sentences title={t('remains')} sentences={remains.map(({ sentence }) => sentence)} />
        <Sentences title={t('leftToDo')} sentences={needsConsole} />
      </div>
    </Dialog>
  );
}

function Sentences({ title, sentences }: { title: string; sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return <section><h3>{title}</h3><ul>{sentences.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul></section>;
}

/** The latest moves from version to version, if there were any. */
export function Rollbacks({ app }: { app: App }) {
  const { data } = useResource('/v1/apps/{id}/versions', { path: { id: app.id }, query: { limit: 200 } }, { on: [`app:${app.id}`] });
  if (data === undefined || data.rollbacks.length === 0) return null;
  const number = (id: string) => data.versions.find((version) => version.id === id)?.number ?? '…';
  return (
    <Card title={t('rollbacks')}>
      <ul class="card-body version-rollbacks">
        {data.rollbacks.map(({ at, byName, fromVersionId, toVersionId }) => (
          <li key={at}>{t('rollbackLine', { name: byName ?? t('somebodyGone'), from: number(fromVersionId), to: number(toVersionId) })} <span class="muted"><Time at={at} /></span></li>
        ))}
      </ul>
    </Card>
  );
}
