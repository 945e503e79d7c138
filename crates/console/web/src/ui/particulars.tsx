// What a person compares before they decide: one fact a line.

import type { ComponentChildren } from 'preact';

/** Facts below each other, each with its name. `null` leaves a fact out. */
export function Particulars({ facts }: { facts: readonly (readonly [label: string, value: ComponentChildren] | null)[] }) {
  return <dl class="particulars">{facts.map((fact) => fact && <div key={fact[0]}><dt>{fact[0]}</dt><dd>{fact[1]}</dd></div>)}</dl>;
}

/** The buttons below a question, the safe one first. */
export function Decision({ children }: { children: ComponentChildren }) {
  return <div class="decision">{children}</div>;
}
