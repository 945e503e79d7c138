// What the frame does about responses that need the person.

import type { Call, Interventions } from '#api/client';
import { send } from '#api/client';
import { discardUnsaved } from './unsaved';
import { Button } from '#ui/button';
import { Code } from '#ui/code';
import { Dialog, openDialog } from '#ui/dialog';
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
    return (await openDialog<boolean>((close) => <Conflict call={call} theirs={data} close={close} />)) ?? false;
  },

  async stepUp() {
    if (!hasPasskeys) return false;
    const goesOn = await openDialog<boolean>((close) => <StepUp close={close} />);
    return goesOn ?? false;
  },
};

/** Of the object, shows only what the change is about. */
function comparable(theirs: unknown, mine: unknown): unknown {
  if (typeof theirs !== 'object' || theirs === null || typeof mine !== 'object' || mine === null) return theirs;
  const names = Object.keys(mine);
  return Object.fromEntries(Object.entries(theirs).filter(([name]) => names.includes(name)));
}

function Conflict({ call, theirs, close }: { call: Call; theirs: unknown; close: (again?: boolean) => void }) {
  const text = (value: unknown) => JSON.stringify(value, null, 2);
  const actions = (
    <>
      <Button onClick={() => close(false)} autofocus>{t('conflictTheirs')}</Button>
      <Button variant="danger" onClick={() => close(true)}>{t('conflictMine')}</Button>
    </>
  );
  return (
    <Dialog title={t('conflictTitle')} size="wide" actions={actions} onClose={() => close(false)}>
      <div class="prose"><p>{call.method === 'DELETE' ? t('conflictDelete') : t('conflictBody')}</p></div>
      {call.body !== undefined && <Code label={t('conflictTitle')} language="json" value={text(call.body)} original={text(comparable(theirs, call.body))} height="short" />}
    </Dialog>
  );
}

function StepUp({ close }: { close: (done?: boolean) => void }) {
  const use = () => void stepUp().then(() => close(true), toastProblem);
  return (
    <Dialog title={t('stepUpTitle')} onClose={() => close(false)} actions={<><Button onClick={() => close(false)}>{t('cancel')}</Button><Button variant="primary" icon="key" onClick={use} autofocus>{t('stepUpAction')}</Button></>}>
      <div class="prose"><p>{t('stepUpBody')}</p></div>
    </Dialog>
  );
}
