import type { ComponentChildren } from 'preact';

export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return <section class="gallery-part"><h2>{title}</h2><div>{children}</div></section>;
}
