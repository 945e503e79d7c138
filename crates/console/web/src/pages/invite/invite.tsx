// An invite: who invites, where to and as what, before anything is asked.

import type { ComponentChildren } from 'preact';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { loadSession, navigate, roleText, session, signInPath, signOut, useAction, useTitle, workspacePath, type RouteProps } from '#frame';
import { serverMain } from '#frame/server-page';
import { Button, Decision, Empty, ProblemView, Skeleton, Time } from '#ui';
import { t } from './messages';

/** What the server's page says about the invite. It tells a member that they have joined, which the preview does not. */
const onPage = serverMain === null ? null : {
  title: serverMain.querySelector('h1')?.textContent ?? '',
  text: serverMain.querySelector('h1 ~ p, p')?.textContent ?? '',
  isOpen: serverMain.querySelector('form[method="post"]') !== null,
};

export default function Invite({ params: { token } }: RouteProps<'/invite/:token'>) {
  const preview = useResource('/v1/invites/{token}', { path: { token } });
  useTitle(t('title'));
  if (preview.data !== undefined) return <Offer token={token} title={t('join', { workspace: preview.data.workspaceName })}><About invite={preview.data} /></Offer>;
  if (preview.error === undefined) return <Skeleton lines={3} />;
  if (preview.error.isTransient) return <ProblemView problem={preview.error} onRetry={preview.refresh} />;
  if (onPage?.isOpen) return <Offer token={token} title={onPage.title}><p>{onPage.text}</p></Offer>;
  const home = <Button variant="primary" href="/">{t('home')}</Button>;
  if (onPage !== null) return <Empty title={onPage.title} action={home}><p>{onPage.text}</p></Empty>;
  return <Empty title={t('none')} action={home}><p>{t('noneBody')}</p></Empty>;
}

function About({ invite: { workspaceName, inviterName, role, accessEndsAt, expiresAt } }: { invite: Schemas['InvitePreview'] }) {
  const parts = { workspace: <strong>{workspaceName}</strong>, role: <strong>{roleText(role)}</strong> };
  return (
    <>
      <p>{inviterName === null ? t.rich('invited', parts) : t.rich('invites', { ...parts, inviter: inviterName })}</p>
      {accessEndsAt && <p>{t.rich('accessEnds', { when: <Time at={accessEndsAt} as="moment" /> })}</p>}
      <p class="muted">{t.rich('expires', { when: <Time at={expiresAt} as="moment" /> })}</p>
    </>
  );
}

function Offer({ token, title, children }: { token: string; title: string; children: ComponentChildren }) {
  const user = session.value?.user;
  return (
    <>
      <h1>{title}</h1>
      {children}
      {user ? <Accept token={token} email={user.email} /> : <Visitor />}
    </>
  );
}

function Visitor() {
  return (
    <>
      <p>{t('withThatAddress')}</p>
      <Button variant="primary" href={signInPath()}>{t('signIn')}</Button>
    </>
  );
}

function Accept({ token, email }: { token: string; email: string }) {
  const accept = useAction(async () => {
    const { session: entered } = await api.post('/v1/invites/{token}/accept', { path: { token }, body: {} });
    await loadSession();
    await navigate(entered.workspaceId === null ? '/' : workspacePath(entered.workspaceId));
  }, { shows: 'inline' });
  const leave = useAction(() => signOut(signInPath()));
  return (
    <>
      <p>{t.rich('signedInAs', { email: <strong>{email}</strong> })}</p>
      {accept.problem && <ProblemView problem={accept.problem} />}
      <Decision>
        <Button busy={leave.busy} onClick={() => void leave.run()}>{t('otherAccount')}</Button>
        <Button variant="primary" busy={accept.busy} onClick={() => void accept.run()}>{t('accept')}</Button>
      </Decision>
    </>
  );
}
