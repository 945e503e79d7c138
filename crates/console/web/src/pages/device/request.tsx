// The request behind a code: who asks, what for, and the decision.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { roleText, useAction } from '#frame';
import { Button, Choice, Decision, Empty, Loaded, Particulars, ProblemView, Select, Time } from '#ui';
import { t } from './messages';

type View = Schemas['DeviceLoginView'];
type Scope = Schemas['Scope'];

export function Request({ code, onOtherCode }: { code: string; onOtherCode: () => void }) {
  const request = useResource('/v1/cli/device/{userCode}', { path: { userCode: code } });
  if (request.error && request.data === undefined) {
    return (
      <>
        <h1>{t('title')}</h1>
        <ProblemView problem={request.error} {...(request.error.isTransient ? { onRetry: request.refresh } : {})} />
        <Button onClick={onOtherCode}>{t('otherCode')}</Button>
      </>
    );
  }
  return <Loaded resource={request}>{(view) => (view.status === 'pending' ? <Question view={view} onDecided={(status) => request.set({ ...view, status })} /> : <Outcome view={view} onOtherCode={onOtherCode} />)}</Loaded>;
}

function Outcome({ view, onOtherCode }: { view: View; onOtherCode: () => void }) {
  const again = view.status === 'approved' ? undefined : <Button onClick={onOtherCode}>{t('otherCode')}</Button>;
  return <Empty title={t(`outcome_${view.status as 'approved' | 'denied' | 'expired'}`, { client: view.client })} action={again}><p>{t(`next_${view.status as 'approved' | 'denied' | 'expired'}`)}</p></Empty>;
}

function scopesText(scopes: readonly Scope[]): string {
  if (scopes.includes('admin')) return t('may_admin');
  return scopes.includes('write') ? t('may_write') : t('may_read');
}

function Question({ view, onDecided }: { view: View; onDecided: (status: View['status']) => void }) {
  const { userCode, client, host, address, createdAt, scopes, name, expiresInDays, workspaces } = view;
  const asksForMore = scopes.some((scope) => scope !== 'read');
  const [workspaceId, setWorkspaceId] = useState<string>(workspaces[0]?.id ?? '');
  const [access, setAccess] = useState<'read' | 'asked'>('asked');
  const path = { userCode };
  const approve = useAction(async () => {
    const granted: Scope[] = access === 'read' ? ['read'] : [...scopes];
    onDecided((await api.post('/v1/cli/device/{userCode}/approve', { path, body: { workspaceId, scopes: granted, expiresInDays } })).status);
  }, { shows: 'inline' });
  const deny = useAction(async () => onDecided((await api.post('/v1/cli/device/{userCode}/deny', { path })).status), { shows: 'inline' });
  const problem = approve.problem ?? deny.problem;
  return (
    <>
      <h1>{t('question', { client })}</h1>
      <p>{t('intro')}</p>
      <p class="device-code" aria-label={t('code')}>{userCode}</p>
      <Particulars
        facts={[
          [t('program'), <>{client}<small>{t('notProven')}</small></>],
          [t('machine'), <>{host ?? t('notSaid')}{host && <small>{t('notProven')}</small>}</>],
          [t('askedFrom'), address ?? t('unknown')],
          [t('asked'), <Time at={createdAt} />],
          [t('may'), scopesText(scopes)],
          [t('token'), t('forDays', { name, count: expiresInDays })],
        ]}
      />
      {workspaces.length === 0 ? <p>{t('nowhere')}</p> : (
        <>
          <Select label={t('workspace')} value={workspaceId} onChange={setWorkspaceId} options={workspaces.map((item) => ({ value: item.id, label: t('workspaceAndRole', { name: item.name, role: roleText(item.role) }) }))} />
          {asksForMore && <Choice label={t('access')} value={access} onChange={setAccess} options={[{ value: 'read', label: t('accessRead') }, { value: 'asked', label: t('accessAsked'), detail: scopesText(scopes) }]} />}
        </>
      )}
      {problem && <ProblemView problem={problem} />}
      <Decision>
        <Button busy={deny.busy} onClick={() => void deny.run()}>{t('deny')}</Button>
        {workspaces.length > 0 && <Button variant="primary" busy={approve.busy} onClick={() => void approve.run()}>{t('allow')}</Button>}
      </Decision>
    </>
  );
}
