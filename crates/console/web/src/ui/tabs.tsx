import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { path, view } from '#frame/router';

export interface Tab {
  readonly href: string;
  readonly label: ComponentChildren;
  readonly count?: number;
  /** Whether what is shown belongs to the tab, although its address is another one. */
  readonly isCurrent?: boolean;
}

/** Parts of a page, each with its own address. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const element = useRef<HTMLElement>(null);
  const current = pathOfPage();
  // On phones not all tabs are in sight.
  useEffect(() => element.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [current]);
  return (
    <nav class="tabs" aria-label={label} ref={element}>
      {tabs.map(({ href, label: text, count, isCurrent = false }) => (
        <a key={href} href={href} aria-current={isCurrent || current === href ? 'page' : undefined}>{text}{count !== undefined && <span class="count">{count}</span>}</a>
      ))}
    </nav>
  );
}

/** Returns the path of the page, below what is open in the panel. */
function pathOfPage(): string {
  const shown = view.value;
  return shown !== null && typeof shown === 'object' && 'route' in shown ? shown.path : path.value;
}

/** One of a few ways to look at the same thing, on the spot. */
export function Segments<V extends string>({ label, options, value, onChange }: { label: string; options: readonly { readonly value: V; readonly label: string }[]; value: V; onChange: (value: V) => void }) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option.value} type="button" aria-pressed={option.value === value} onClick={() => onChange(option.value)}>{option.label}</button>
      ))}
    </div>
  );
}
