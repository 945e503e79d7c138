// A run that waits for an answer.

import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { isReadOnly, toast, useAction } from '#frame';
import { Button, Loaded, Time } from '#ui';
import { t } from './messages';

type Run = Schemas['RunSummary'];

export function Waiting({ ws, run, decided }: { ws: string; run: Run; decided: () => void }) {
  const approvals = useResource('/v1/runs/{id}/approvals', { path: { id: run.id } }, { on: [`run:${run.id}`, 'approval'] });
  const app = useResource('/v1/apps/{id}', { path: { id: run.appId } }, { on: [`app:${run.appId}`] });
  const mayDecide = !isReadOnly.value && (app.data?.rights.includes('can_edit') ?? false);
  return (
    <li class="queue-run">
      <p class="muted"><a class="link" href={`/w/${ws}/runs/${run.id}`}>{run.roadName ?? run.appName}</a> · <Time at={run.acceptedAt} /></p>
      <Loaded resource={approvals} lines={2}>
        {({ items }) => <>{items.filter(({ state }) => state === 'waiting').map((approval) => <Question key={approval.id} runId={run.id} approval={approval} mayDecide={mayDecide} decided={decided} />)}</>}
      </Loaded>
    </li>
  );
}

function Question({ runId, approval, mayDecide, decided }: { runId: string; approval: Schemas['Approval']; mayDecide: boolean; decided: () => void }) {
  const decide = useAction(async (approved: boolean) => {
    await api.post('/v1/runs/{id}/approvals', { path: { id: runId }, body: { approvalId: approval.id, approved } });
    toast(approved ? t('approved') : t('refused'));
    decided();
  });
  const unavailable = mayDecide ? null : t('mayNotDecide');
  return (
    <div class="queue-question">
      <div class="prose">
        <h3>{approval.title}</h3>
        {approval.detail && <p class="queue-detail">{approval.detail}</p>}
        <p class="muted">{t.rich('answerBy', { when: <Time at={approval.expiresAt} as="moment" /> })}</p>
      </div>
      <div class="queue-decide">
        <Button variant="primary" icon="check" busy={decide.busy} unavailable={unavailable} onClick={() => void decide.run(true)}>{t('approve')}</Button>
        <Button icon="cross" busy={decide.busy} unavailable={unavailable} onClick={() => void decide.run(false)}>{t('refuse')}</Button>
      </div>
    </div>
  );
}
