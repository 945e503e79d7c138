// A secret that is shown once.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button';
import { Copyable } from './copyable';
import { Dialog, openDialog } from './dialog';
import { Checkbox } from './field';
import { t } from './messages';

/** Shows a secret until the person says that they have kept it. */
export async function revealSecret({ title, secret, children }: { title: string; secret: string; children?: ComponentChildren }): Promise<void> {
  await openDialog<true>((close) => <Secret title={title} secret={secret} close={() => close(true)}>{children}</Secret>);
}

function Secret({ title, secret, children, close }: { title: string; secret: string; children?: ComponentChildren; close: () => void }) {
  const [isKept, setKept] = useState(false);
  // Esc and a click beside it do not lose the secret.
  const leave = () => { if (isKept) close(); };
  return (
    <Dialog title={title} onClose={leave} actions={<Button variant="primary" onClick={close} unavailable={isKept ? null : t('secretKeepFirst')}>{t('done')}</Button>}>
      <div class="prose"><p>{t('secretOnce')}</p>{children}</div>
      <div class="secret"><Copyable value={secret} /></div>
      <Checkbox label={t('secretKept')} checked={isKept} onChange={setKept} />
    </Dialog>
  );
}
