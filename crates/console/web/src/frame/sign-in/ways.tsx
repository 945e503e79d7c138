// The ways to sign in: a code by mail, a passkey, another issuer, or any address on a development server.

import type { TargetedMouseEvent } from 'preact';
import { api } from '#api/client';
import { locale } from '#i18n';
import { Button } from '#ui/button';
import { ProblemView } from '#ui/feedback';
import { TextField } from '#ui/field';
import { useAction } from '../action';
import { answerChallenge } from '../passkeys';
import { t } from './messages';
import { useMethods } from './methods';

interface WaysProps {
  readonly email: string;
  readonly onEmail: (email: string) => void;
  /** A code was sent. */
  readonly onSent: () => void;
  readonly onDone: () => void;
  /** Where an issuer sends the person back to. */
  readonly next: string;
}

export function Ways({ email, onEmail, onSent, onDone, next }: WaysProps) {
  const methods = useMethods();
  return (
    <>
      <EmailForm email={email} onEmail={onEmail} onSent={onSent} onDone={onDone} isDevelopment={methods.development} />
      {(methods.passkeys || methods.oidc.length > 0) && (
        <div class="sign-in-others">
          <p class="sign-in-or">{t('or')}</p>
          {methods.passkeys && <PasskeyButton onDone={onDone} />}
          {methods.oidc.map(({ name, title }) => <Button key={name} href={`/v1/auth/oidc/${name}/start?next=${encodeURIComponent(next)}`}>{t('signInWith', { title })}</Button>)}
        </div>
      )}
    </>
  );
}

/** One address for every way that begins with one. */
function EmailForm({ email, onEmail, onSent, onDone, isDevelopment }: Omit<WaysProps, 'next'> & { readonly isDevelopment: boolean }) {
  const start = useAction(async () => {
    await api.post('/v1/auth/email/start', { body: { email: email.trim(), locale: locale.value } });
    onSent();
  }, { shows: 'inline' });
  const signIn = useAction(async () => {
    await api.post('/v1/auth/dev-login', { body: { email: email.trim() } });
    onDone();
  }, { shows: 'inline' });
  const problem = start.problem ?? signIn.problem;
  // The first button is the one that Enter presses.
  const askForCode = (event: TargetedMouseEvent<HTMLElement>) => { if (event.currentTarget.closest('form')?.reportValidity()) void start.run(); };
  return (
    <form onSubmit={(event) => { event.preventDefault(); void (isDevelopment ? signIn : start).run(); }}>
      <TextField label={t('email')} hint={isDevelopment ? t('devLead') : t('emailHint')} type="email" name="email" value={email} onInput={onEmail} autocomplete="email webauthn" required autofocus />
      {problem && <ProblemView problem={problem} />}
      {isDevelopment && <Button type="submit" variant="primary" busy={signIn.busy}>{t('devSignIn')}</Button>}
      {isDevelopment ? <Button busy={start.busy} onClick={askForCode}>{t('sendCode')}</Button> : <Button type="submit" variant="primary" busy={start.busy}>{t('sendCode')}</Button>}
    </form>
  );
}

function PasskeyButton({ onDone }: { onDone: () => void }) {
  const signIn = useAction(async () => {
    const { ceremonyId, options } = await api.post('/v1/auth/passkeys/sign-in/start', {});
    const credential = await answerChallenge(options);
    await api.post('/v1/auth/passkeys/sign-in/finish', { body: { ceremonyId, credential } });
    onDone();
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
