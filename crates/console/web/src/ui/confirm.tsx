// Questions before something that cannot be taken back.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button';
import { Dialog, openDialog } from './dialog';
import { TextField } from './field';
import { t } from './messages';

interface Question {
  readonly title: string;
  readonly body?: ComponentChildren;
  /** Verb of the button that goes on. */
  readonly action: string;
  readonly tone?: 'bad' | 'ok';
  /** Text that has to be typed first, such as the name of what is deleted. */
  readonly typed?: string;
}

/** Asks, and resolves to whether to go on. */
export async function confirm(question: Question): Promise<boolean> {
  return (await openDialog<boolean>((close) => <Confirm {...question} close={close} />)) ?? false;
}

function Confirm({ title, body, action, tone = 'ok', typed, close }: Question & { close: (goOn?: boolean) => void }) {
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed;
  const submit = (event: Event) => {
    event.preventDefault();
    if (isReady) close(true);
  };
  const actions = (
    <>
      <Button onClick={() => close(false)} autofocus={typed === undefined}>{t('cancel')}</Button>
      <Button type="submit" form="confirm" variant={tone === 'bad' ? 'danger' : 'primary'} unavailable={isReady ? null : t('typeFirst', { text: typed })}>{action}</Button>
    </>
  );
  return (
    <Dialog title={title} actions={actions} onClose={() => close(false)}>
      <form id="confirm" onSubmit={submit}>
        {body && <div class="prose">{body}</div>}
        {typed !== undefined && <TextField label={t('typeToConfirm', { text: typed })} value={text} onInput={setText} autocomplete="off" spellcheck={false} autofocus />}
      </form>
    </Dialog>
  );
}
