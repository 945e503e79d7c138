// What the frame does about responses that need the person.

import type { Interventions } from '#api/client';
import { send } from '#api/client';
import { discardUnsaved } from './unsaved';
import { Button } from '#ui/button';
import { Dialog, openDialog } from '#ui/dialog';
import { chooseMine } from './conflict';
import { t } from './messages';
import { hasPasskeys, stepUp } from './passkeys';
import { session, signInPath } from './session';
import { toastProblem } from './toasts';

export const interventions: Interventions = {
  signedOut() {
    // A visitor has no session to lose.
    if (!session.peek()) return;
    discardUnsaved();
    location.assign(signInPath());
  },

  async conflict(call) {
    const { data } = await send<unknown>({ method: 'GET', url: call.changes ?? call.url });
    return chooseMine(data, call.method === 'DELETE' ? undefined : (call.body ?? {}));
  },

  async stepUp() {
    if (!hasPasskeys) return false;
    const goesOn = await openDialog<boolean>((close) => <StepUp close={close} />);
    return goesOn ?? false;
  },
};

function StepUp({ close }: { close: (done?: boolean) => void }) {
  const use = () => void stepUp().then(() => close(true), toastProblem);
  return (
    <Dialog title={t('stepUpTitle')} onClose={() => close(false)} actions={<><Button onClick={() => close(false)}>{t('cancel')}</Button><Button variant="primary" icon="key" onClick={use} autofocus>{t('stepUpAction')}</Button></>}>
      <div class="prose"><p>{t('stepUpBody')}</p></div>
    </Dialog>
  );
}
