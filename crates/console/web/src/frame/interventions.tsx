// What the frame does about responses that need the person.

import type { Interventions } from '#api/client';
import { send, tagOf } from '#api/client';
import { reconnect } from '#api/events';
import { invalidate } from '#api/resource';
import { Button } from '#ui/button';
import { Dialog, openDialog } from '#ui/dialog';
import { chooseMine } from './conflict';
import { t } from './messages';
import { hasPasskeys, stepUp } from './passkeys';
import { isSessionOver, isSigningOut, loadSession, session, type Session } from './session';
import { toastProblem } from './toasts';
import { mayBeLost } from './unsaved';

/** Signing in again, once for all requests that need it. */
let signingIn: Promise<boolean> | null = null;
async function ask(): Promise<boolean> {
  const { user } = session.peek() as Session;
  const { signInAgain } = await import('./sign-in/again');
  const isBack = await signInAgain({ id: user.id, email: user.email }, location.pathname + location.search);
  isSessionOver.value = !isBack;
  if (!isBack) return false;
  // What is shown may be old, and the stream of events has ended with the session.
  reconnect();
  invalidate('all');
  void loadSession().catch(() => undefined);
  return true;
}

/** Asks the person to sign in again over the page. Resolves to whether they are back. */
export function askToSignIn(): Promise<boolean> {
  signingIn ??= ask().finally(() => { signingIn = null; });
  return signingIn;
}

export const interventions: Interventions = {
  async signedOut(isBackground) {
    // A visitor has no session to lose, and whoever signs out is leaving.
    if (!session.peek() || isSigningOut.peek()) return false;
    // Nobody is interrupted while they write, nor asked twice, by what the page does by itself: a bar says it.
    const isBeside = isBackground && signingIn === null && (isSessionOver.peek() || mayBeLost());
    isSessionOver.value = true;
    return isBeside ? false : askToSignIn();
  },

  async conflict(call) {
    const { state, etag } = await (call.readCurrent?.() ?? readAt(call.changes ?? call.url));
    const isMine = await chooseMine(state, call.method === 'DELETE' ? undefined : (call.body ?? {}));
    return isMine ? { ifMatch: etag } : null;
  },

  async stepUp() {
    if (!hasPasskeys) return false;
    const goesOn = await openDialog<boolean>((close) => <StepUp close={close} />);
    return goesOn ?? false;
  },
};

async function readAt(url: string): Promise<{ readonly state: unknown; readonly etag: string | null }> {
  const { data } = await send<unknown>({ method: 'GET', url });
  return { state: data, etag: tagOf(data) };
}

function StepUp({ close }: { close: (done?: boolean) => void }) {
  const use = () => void stepUp().then(() => close(true), toastProblem);
  return (
    <Dialog title={t('stepUpTitle')} onClose={() => close(false)} actions={<><Button onClick={() => close(false)}>{t('cancel')}</Button><Button variant="primary" icon="key" onClick={use} autofocus>{t('stepUpAction')}</Button></>}>
      <div class="prose"><p>{t('stepUpBody')}</p></div>
    </Dialog>
  );
}
