// Signing in again over the page, after the session has ended.

import { useEffect, useState } from 'preact/hooks';
import { Button } from '#ui/button';
import { Dialog, openDialog } from '#ui/dialog';
import { Notice } from '#ui/feedback';
import { leaveKeeping } from '../unsaved';
import { CodeForm } from './code-form';
import { t } from './messages';
import { Ways } from './ways';

interface Person {
  readonly id: string;
  readonly email: string;
}

/** Returns who is signed in now; `null` for nobody, or if it is not known. */
async function whoIsHere(): Promise<string | null> {
  const response = await fetch('/v1/session').catch(() => null);
  if (!response?.ok) return null;
  return ((await response.json()) as { readonly user: { readonly id: string } }).user.id;
}

/** Asks the person to sign in again. Resolves to whether they are back. */
export async function signInAgain(person: Person, next: string): Promise<boolean> {
  return (await openDialog<boolean>((close) => <Again person={person} next={next} close={close} />)) ?? false;
}

function Again({ person, next, close }: { person: Person; next: string; close: (isBack?: boolean) => void }) {
  const [email, setEmail] = useState(person.email);
  const [isSent, setSent] = useState(false);
  const check = async () => {
    const here = await whoIsHere();
    if (here === person.id) close(true);
    // The page is of somebody else, and nothing of it is shown to whoever is here now.
    else if (here !== null) {
      leaveKeeping();
      location.assign('/');
    }
  };
  // The link in the mail, or another tab, may have done it.
  useEffect(() => {
    const look = () => { if (!document.hidden) void check(); };
    document.addEventListener('visibilitychange', look);
    window.addEventListener('focus', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('focus', look);
    };
  }, []);
  const leave = (event: MouseEvent) => { if (event.target instanceof Element && event.target.closest('a')) leaveKeeping(); };
  return (
    <Dialog title={isSent ? t('codeTitle') : t('againTitle')} onClose={() => close(false)} actions={<Button onClick={() => close(false)}>{t('notNow')}</Button>}>
      <div class="sign-in-again-ways" onClick={leave}>
        {!isSent && <Notice><p>{t('againLead')}</p></Notice>}
        {isSent
          ? <CodeForm email={email} isPage={false} onBack={() => setSent(false)} onDone={() => void check()} />
          : <Ways email={email} onEmail={setEmail} onSent={() => setSent(true)} onDone={() => void check()} next={next} />}
      </div>
    </Dialog>
  );
}
