// Modal dialogs, on the browser's own element.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon';
import { t } from './messages';

interface Open {
  readonly id: number;
  readonly content: ComponentChildren;
}

const open = signal<readonly Open[]>([]);
let count = 0;

/**
 * Opens a dialog and resolves to what it is closed with, or to `undefined` if the person leaves it.
 *
 * `content` gets the function that closes it, and returns a `Dialog`.
 */
export function openDialog<T>(content: (close: (result?: T) => void) => ComponentChildren): Promise<T | undefined> {
  return new Promise((resolve) => {
    const id = (count += 1);
    const close = (result?: T) => {
      open.value = open.peek().filter((dialog) => dialog.id !== id);
      resolve(result);
    };
    open.value = [...open.peek(), { id, content: content(close) }];
  });
}

interface DialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Buttons, the one that goes on last. */
  readonly actions?: ComponentChildren;
  readonly size?: 'normal' | 'wide';
  readonly onClose: () => void;
}

export function Dialog({ title, children, actions, size = 'normal', onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element} class={`dialog dialog-${size}`} aria-labelledby={id}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onPointerDown={(event) => { if (event.target === event.currentTarget) onClose(); }}
    >
      <div class="dialog-content">
        <header><h2 id={id}>{title}</h2><button type="button" class="icon-button" aria-label={t('close')} onClick={onClose}><Icon name="cross" /></button></header>
        {children}
        {actions && <footer>{actions}</footer>}
      </div>
    </dialog>
  );
}

/** Draws the dialogs that were opened with `openDialog`. */
export function Dialogs() {
  return <>{open.value.map(({ id, content }) => <div key={id}>{content}</div>)}</>;
}
