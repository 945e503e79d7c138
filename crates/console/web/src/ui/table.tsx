import type { ComponentChildren } from 'preact';

/** A few rows that need no keyboard of their own. Longer ones are a `List`. */
export function Table({ label, head, children }: { label: string; head: readonly (string | { readonly text: string; readonly align: 'end' })[]; children: ComponentChildren }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="table">
        <caption class="hidden-text">{label}</caption>
        <thead><tr>{head.map((cell) => (typeof cell === 'string' ? <th key={cell} scope="col">{cell}</th> : <th key={cell.text} scope="col" class="is-end">{cell.text}</th>))}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Facts about one thing, each with its name. `null` leaves a fact out. */
export function Facts({ facts }: { facts: readonly (readonly [label: string, value: ComponentChildren] | null)[] }) {
  return <dl class="facts">{facts.map((fact) => fact && <div key={fact[0]}><dt>{fact[0]}</dt><dd>{fact[1]}</dd></div>)}</dl>;
}

/** A part of a page with a border and a heading. */
export function Card({ title, aside, children, isPlain = false }: { title?: ComponentChildren; aside?: ComponentChildren; children: ComponentChildren; isPlain?: boolean }) {
  return (
    <section class={`card ${isPlain ? 'is-plain' : ''}`}>
      {title !== undefined && <header class="card-head"><h2>{title}</h2>{aside && <div class="card-aside">{aside}</div>}</header>}
      {children}
    </section>
  );
}
