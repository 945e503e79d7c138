// An agent that asks to act for the person.

import { useEffect, useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { roleText, session, signInPath, useAction, useTitle, type RouteProps } from '#frame';
import { Button, Choice, Decision, Empty, Notice, Particulars, ProblemView, Select, Skeleton } from '#ui';
import { t } from './messages';

type Authorization = Schemas['OAuthAuthorization'];
type Access = Schemas['AgentAccess'];

export default function Consent({ params: { id } }: RouteProps<'/oauth/consent/:id'>) {
  const isVisitor = session.value === null;
  useEffect(() => { if (isVisitor) location.replace(signInPath()); }, [isVisitor]);
  useTitle(t('title'));
  if (isVisitor) return null;
  return <Request id={id} />;
}

function Request({ id }: { id: string }) {
  const request = useResource('/v1/oauth/authorizations/{id}', { path: { id } });
  if (request.data !== undefined) return <Question authorization={request.data} />;
  if (request.error === undefined) return <Skeleton />;
  const isOver = request.error.status === 404 || request.error.status === 409;
  if (isOver) return <Empty title={t('over')}><p>{t('overWhy')}</p><p>{t('overNext')}</p></Empty>;
  return <ProblemView problem={request.error} onRetry={request.refresh} />;
}

/** Says who asks, and what of that is proven. */
function Publisher({ client }: { client: Authorization['client'] }) {
  const host = client.host === null ? null : <strong>{client.host}</strong>;
  if (host === null) return <>{t('notProven')}</>;
  return <>{client.recognized === null ? t.rich('provenBy', { host }) : t.rich('recognized', { publisher: client.recognized, host })}</>;
}

function Question({ authorization: { id, client, redirect, requestedAccess, resource, user, workspaces } }: { authorization: Authorization }) {
  const [workspaceId, setWorkspaceId] = useState<string>((workspaces.find((item) => item.id === session.value?.workspaceId) ?? workspaces[0])?.id ?? '');
  const [access, setAccess] = useState<Access>(requestedAccess);
  const [outcome, setOutcome] = useState<Schemas['OutcomeView'] | null>(null);
  const decide = useAction(async (decision: Schemas['Answer']) => {
    const body = decision === 'allow' ? { decision, workspaceId, access } : { decision };
    const decided = await api.post('/v1/oauth/authorizations/{id}/decision', { path: { id }, body });
    setOutcome(decided.outcome);
    location.assign(decided.redirectTo);
  }, { shows: 'inline' });
  // A program on this device may take the response without taking the page away.
  if (outcome !== null) return <Empty title={t(`outcome_${outcome}`)}><p>{t('goBack', { name: client.name })}</p></Empty>;
  return (
    <>
      <h1>{t('question', { name: client.name })}</h1>
      <p>{t.rich('asks', { name: <strong>{client.name}</strong>, resource: resource.name })}</p>
      <Particulars
        facts={[
          [t('who'), <Publisher client={client} />],
          client.homepageHost === null ? null : [t('claims'), <>{client.homepageHost}<small>{t('claimsHint')}</small></>],
          [t('answerTo'), <strong>{redirect.host === '' ? `${redirect.scheme}:` : redirect.host}</strong>],
          [t('you'), user.email],
        ]}
      />
      {redirect.local && <Notice tone="warn">{t('localWarning')}</Notice>}
      {client.kind === 'registered' && <p class="muted">{t('nameWarning')}</p>}
      {workspaces.length === 0 ? <p>{t('nowhere')}</p> : (
        <>
          <Select label={t('workspace')} value={workspaceId} onChange={setWorkspaceId} options={workspaces.map((item) => ({ value: item.id, label: t('workspaceAndRole', { name: item.name, role: roleText(item.role) }) }))} />
          <Choice label={t('access')} value={access} onChange={setAccess} options={requestedAccess === 'write' ? [{ value: 'read', label: t('read') }, { value: 'write', label: t('write') }] : [{ value: 'read', label: t('read') }]} />
        </>
      )}
      {decide.problem && <ProblemView problem={decide.problem} />}
      <Decision>
        <Button busy={decide.busy} onClick={() => void decide.run('deny')}>{t('deny')}</Button>
        {workspaces.length > 0 && <Button variant="primary" busy={decide.busy} onClick={() => void decide.run('allow')}>{t('allow')}</Button>}
      </Decision>
      <p class="muted">{t('revoke')}</p>
    </>
  );
}
