// The code from the mail.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { locale } from '#i18n';
import { Button } from '#ui/button';
import { ProblemView } from '#ui/feedback';
import { TextField } from '#ui/field';
import { useAction } from '../action';
import { toast } from '../toasts';
import { t } from './messages';

const LENGTH = 6;

interface CodeFormProps {
  readonly email: string;
  readonly onBack: () => void;
  readonly onDone: () => void;
  /** Whether it stands under a heading of its own. */
  readonly isPage?: boolean;
}

export function CodeForm({ email, onBack, onDone, isPage = true }: CodeFormProps) {
  const [code, setCode] = useState('');
  const verify = useAction(async (entered: string) => {
    await api.post('/v1/auth/email/verify', { body: { email: email.trim(), code: entered } });
    onDone();
  }, { shows: 'inline' });
  const resend = useAction(async () => {
    await api.post('/v1/auth/email/start', { body: { email: email.trim(), locale: locale.value } });
    toast(t('resent'));
  });
  const enter = (text: string) => {
    const digits = text.replace(/\D/g, '').slice(0, LENGTH);
    setCode(digits);
    // The last digit, or a paste, is enough.
    if (digits.length === LENGTH) void verify.run(digits);
  };
  return (
    <>
      {isPage && <h1>{t('codeTitle')}</h1>}
      <p>{t.rich('codeLead', { email: <strong>{email}</strong> })}</p>
      <form onSubmit={(event) => { event.preventDefault(); void verify.run(code); }}>
        <div class="sign-in-code"><TextField label={t('code')} value={code} onInput={enter} inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" required autofocus /></div>
        {verify.problem && <ProblemView problem={verify.problem} />}
        <Button type="submit" variant="primary" busy={verify.busy}>{t('signIn')}</Button>
      </form>
      <div class="sign-in-again">
        <Button variant="plain" busy={resend.busy} onClick={() => void resend.run()}>{t('resend')}</Button>
        <Button variant="plain" onClick={onBack}>{t('otherEmail')}</Button>
      </div>
    </>
  );
}
