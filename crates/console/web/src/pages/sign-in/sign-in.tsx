// Signing in: a code by mail, a passkey, another issuer, or without proof on a development server.

import { useEffect, useState } from 'preact/hooks';
import { api } from '#api/client';
import { session, useAction, useTitle } from '#frame';
import { answerChallenge } from '#frame/passkeys';
import { serverMain, typedInto } from '#frame/server-page';
import { locale } from '#i18n';
import { Button, ProblemView, TextField } from '#ui';
import { CodeForm } from './code-form';
import { t } from './messages';
import { useMethods } from './methods';
import { goOn, nextPath } from './next';

/** On the way to an invite, the server's page says who invites to what: the heading, and the sentences above the form. */
const form = serverMain?.querySelector('form[action="/sign-in/start"]');
const heading = form ? (serverMain?.querySelector('h1')?.textContent ?? null) : null;
const sentences = form ? [...(serverMain?.querySelectorAll<HTMLElement>(':scope > p:not(.mark)') ?? [])].map((paragraph) => paragraph.textContent ?? '') : [];

export default function SignIn() {
  const [email, setEmail] = useState(() => typedInto('/sign-in/start', 'email'));
  const [isSent, setSent] = useState(false);
  const methods = useMethods();
  const isSignedIn = Boolean(session.value);
  useEffect(() => { if (isSignedIn) goOn(); }, [isSignedIn]);
  useTitle(t('title'));
  if (isSignedIn) return null;
  if (isSent) return <CodeForm email={email} onBack={() => setSent(false)} />;
  return (
    <>
      <h1>{heading ?? t('title')}</h1>
      {sentences.map((sentence) => <p key={sentence}>{sentence}</p>)}
      <EmailForm email={email} onEmail={setEmail} onSent={() => setSent(true)} />
      {(methods.passkeys || methods.oidc.length > 0) && (
        <div class="sign-in-others">
          <p class="sign-in-or">{t('or')}</p>
          {methods.passkeys && <PasskeyButton />}
          {methods.oidc.map(({ name, title }) => <Button key={name} href={`/v1/auth/oidc/${name}/start?next=${encodeURIComponent(nextPath())}`}>{t('signInWith', { title })}</Button>)}
        </div>
      )}
      {methods.development && <DevSignIn />}
    </>
  );
}

function EmailForm({ email, onEmail, onSent }: { email: string; onEmail: (email: string) => void; onSent: () => void }) {
  const start = useAction(async () => {
    await api.post('/v1/auth/email/start', { body: { email: email.trim(), locale: locale.value } });
    onSent();
  }, { shows: 'inline' });
  return (
    <form onSubmit={(event) => { event.preventDefault(); void start.run(); }}>
      <TextField label={t('email')} hint={t('emailHint')} type="email" name="email" value={email} onInput={onEmail} autocomplete="email webauthn" required autofocus />
      {start.problem && <ProblemView problem={start.problem} />}
      <Button type="submit" variant="primary" busy={start.busy}>{t('sendCode')}</Button>
    </form>
  );
}

function PasskeyButton() {
  const signIn = useAction(async () => {
    const { ceremonyId, options } = await api.post('/v1/auth/passkeys/sign-in/start', {});
    const credential = await answerChallenge(options);
    await api.post('/v1/auth/passkeys/sign-in/finish', { body: { ceremonyId, credential } });
    goOn();
  }, { shows: 'inline' });
  // Leaving the browser's question is not a failure.
  const isCancelled = signIn.problem?.code === 'console_error';
  return (
    <>
      <Button icon="key" busy={signIn.busy} onClick={() => void signIn.run()}>{t('passkey')}</Button>
      {signIn.problem && (isCancelled ? <p class="field-hint" role="status">{t('passkeyCancelled')}</p> : <ProblemView problem={signIn.problem} />)}
    </>
  );
}

function DevSignIn() {
  const [email, setEmail] = useState(() => typedInto('/sign-in/dev', 'email') || 'dev@localhost.localdomain');
  const signIn = useAction(async () => {
    await api.post('/v1/auth/dev-login', { body: { email: email.trim() } });
    goOn();
  }, { shows: 'inline' });
  return (
    <form class="sign-in-dev" onSubmit={(event) => { event.preventDefault(); void signIn.run(); }}>
      <p>{t('devLead')}</p>
      <TextField label={t('devEmail')} type="email" value={email} onInput={setEmail} required />
      {signIn.problem && <ProblemView problem={signIn.problem} />}
      <Button type="submit" busy={signIn.busy}>{t('devSignIn')}</Button>
    </form>
  );
}
