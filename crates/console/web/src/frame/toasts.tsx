// Short messages about what just happened.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { asProblem } from '#api/problem';
import { Button } from '#ui/button';
import { Icon } from '#ui/icon';
import { NamedText, ProblemText } from '#ui/problem-text';
import { t } from './messages';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly detail?: string | undefined;
  readonly tone: 'ok' | 'info' | 'bad';
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_FOR = 6_000;
const MAX_SHOWN = 4;
let count = 0;

function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

/** Says that something was done. With an action, such as taking it back. */
export function toast(text: string, options: Partial<Pick<Toast, 'tone' | 'action' | 'detail'>> = {}): void {
  const id = (count += 1);
  toasts.value = [...toasts.peek(), { id, text, tone: 'ok' as const, ...options }].slice(-MAX_SHOWN);
  // What went wrong stays until it is dismissed.
  if (options.tone !== 'bad') setTimeout(() => dismiss(id), SHOWN_FOR);
}

/** Says that something was not done, and why. */
export function toastProblem(error: unknown): void {
  const problem = asProblem(error);
  const detail = [problem.hint, problem.requestId].filter((part) => part !== null).join(' · ');
  toast(problem.isOffline ? t('offlineRequest') : problem.message, { tone: 'bad', detail });
}

export function Toasts() {
  const element = useRef<HTMLDivElement>(null);
  const last = toasts.value.at(-1)?.id;
  useEffect(() => {
    // What is shown last in the top layer is above everything else, dialogs too.
    element.current?.hidePopover();
    if (last !== undefined) element.current?.showPopover();
  }, [last]);
  return (
    <div ref={element} class="toasts" popover="manual" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, detail, tone, action }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <Icon name={tone === 'ok' ? 'check' : tone === 'info' ? 'info' : 'cross'} />
          <p>{tone === 'bad' ? <ProblemText text={text} /> : text}{detail && <small><NamedText text={detail} /></small>}</p>
          {action && <Button size="small" onClick={() => { dismiss(id); action.run(); }}>{action.label}</Button>}
          <button type="button" class="icon-button" aria-label={t('dismiss')} onClick={() => dismiss(id)}><Icon name="cross" /></button>
        </div>
      ))}
    </div>
  );
}
