// The panel on the right of a page: what one looks at without leaving the list. It has its own address.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useCommands } from '#frame/commands';
import { closePanel } from '#frame/router';
import { Icon } from './icon';
import { t } from './messages';

interface PanelProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  /** Stays in reach at the bottom. */
  readonly actions?: ComponentChildren;
  readonly size?: 'normal' | 'wide';
}

/** Returns what gets the focus: the first field of a form, or the panel. A field would bring up the keyboard of a phone. */
function firstField(panel: HTMLElement | null): HTMLElement | null {
  const field = matchMedia('(pointer: fine)').matches ? panel?.querySelector<HTMLElement>('[autofocus]') ?? panel?.querySelector<HTMLElement>('form :is(input, textarea, select):not([type=file], :disabled)') : null;
  return field ?? panel;
}

export function Panel({ title, children, actions, size = 'normal' }: PanelProps) {
  const id = useId();
  const element = useRef<HTMLElement>(null);
  useCommands([{ id: 'panel.close', label: t('close'), keys: 'escape', isHidden: true, run: closePanel }]);
  useEffect(() => firstField(element.current)?.focus({ preventScroll: true }), []);
  return (
    <aside class={`panel panel-${size}`} aria-labelledby={id} tabIndex={-1} ref={element}>
      <header class="panel-head"><h2 id={id}>{title}</h2><button type="button" class="icon-button" aria-label={t('close')} data-tip="Esc" onClick={closePanel}><Icon name="cross" /></button></header>
      <div class="panel-body">{children}</div>
      {actions && <footer class="panel-foot">{actions}</footer>}
    </aside>
  );
}
