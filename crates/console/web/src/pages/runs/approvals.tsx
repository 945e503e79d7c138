// What the run asks a person.

import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasRole, isReadOnly, toast, useAction } from '#frame';
import { Button, Loaded, Time } from '#ui';
import { t } from './messages';

export function Approvals({ run }: { run: Schemas['Run'] }) {
  const approvals = useResource('/v1/runs/{id}/approvals', { path: { id: run.id } }, { on: [`run:${run.id}`, 'approval'] });
  return (
    <Loaded resource={approvals} lines={2}>
      {({ items }) => <>{items.filter(({ state }) => state === 'waiting').map((approval) => <Question key={approval.id} run={run} approval={approval} />)}</>}
    </Loaded>
  );
}

function Question({ run, approval }: { run: Schemas['Run']; approval: Schemas['Approval'] }) {
  const mayDecide = hasRole('builder') && !isReadOnly.value;
  const decide = useAction(async (approved: boolean) => {
    await api.post('/v1/runs/{id}/approvals', { path: { id: run.id }, body: { approvalId: approval.id, approved } });
    toast(approved ? t('approved') : t('refused'));
  });
  const unavailable = mayDecide ? null : t('mayNotDecide');
  return (
    <section class="why tone-ask" aria-label={approval.title}>
      <div class="prose">
        <h2>{approval.title}</h2>
        {approval.detail && <p class="why-cause">{approval.detail}</p>}
        <p class="muted">{t.rich('answerBy', { asked: <Time at={approval.askedAt} />, when: <Time at={approval.expiresAt} as="moment" /> })}</p>
      </div>
      <div class="why-actions">
        <Button variant="primary" icon="check" busy={decide.busy} unavailable={unavailable} onClick={() => void decide.run(true)}>{t('approve')}</Button>
        <Button icon="cross" busy={decide.busy} unavailable={unavailable} onClick={() => void decide.run(false)}>{t('refuse')}</Button>
      </div>
    </section>
  );
}
