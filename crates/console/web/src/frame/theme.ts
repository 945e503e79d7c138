// The theme: the system's, unless the person chose one.

import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const STORED = 'qala.theme';

/** The person's choice. `theme.ts` of the entry has applied it before. */
export const theme = signal<Theme>((document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system');

export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  try {
    if (next === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, next);
  } catch {
    // The choice then lasts as long as the page.
  }
}

/** The theme that is shown. */
export function shownTheme(): 'light' | 'dark' {
  if (theme.value !== 'system') return theme.value;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
