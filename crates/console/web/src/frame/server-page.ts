// The page that the server rendered, if it did: the console takes its place and may read what it says.

/** The content of the server's page, out of the document; `null` on pages of the console's own. */
export const serverMain: HTMLElement | null = document.querySelector<HTMLElement>('body > main');

/** Returns what was typed into a field of the server's form before the console took its place; an empty text without one. */
export function typedInto(action: string, name: string): string {
  return serverMain?.querySelector<HTMLInputElement>(`form[action="${action}"] input[name="${name}"]`)?.value ?? '';
}

/** Returns the value of a hidden field that the server put into its form. */
export function serverField(name: string): string | null {
  return serverMain?.querySelector<HTMLInputElement>(`input[name="${name}"]`)?.value ?? null;
}
