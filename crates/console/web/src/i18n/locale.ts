// The language of the console.

import { signal } from '@preact/signals';

export const LOCALES = ['en', 'ru', 'kk'] as const;
export type Locale = (typeof LOCALES)[number];

/** A text in every language. */
export type Text = Readonly<Record<Locale, string>>;

/** Names of the languages, each in itself. */
export const LOCALE_NAMES: Readonly<Record<Locale, string>> = { en: 'English', ru: 'Русский', kk: 'Қазақша' };

const STORED = 'qala.locale';

function isLocale(value: unknown): value is Locale {
  return LOCALES.some((locale) => locale === value);
}

function storedLocale(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** Returns the person's choice, else that of the server's page, else the first language of the browser that is known. */
function initialLocale(): Locale {
  const stored = storedLocale();
  if (isLocale(stored)) return stored;
  const served = document.querySelector('body > main') ? document.documentElement.lang : null;
  const wanted = [served, ...navigator.languages].map((tag) => tag?.split('-')[0]);
  return wanted.find(isLocale) ?? 'en';
}

/** The current language. Components that read it are drawn again when it changes. */
export const locale = signal<Locale>(initialLocale());

/**
 * Returns the language tag by which numbers, dates and clock times are written in `of`: the browser's own with its region, as
 * `en-GB`, else the language alone. Browsers have no data for Kazakh, and Russian writes them in the same way.
 */
export function numeralLocale(of: Locale): string {
  const language = of === 'kk' ? 'ru' : of;
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
}

/** Changes the language, here and on the server's own pages. */
export function setLocale(next: Locale): void {
  locale.value = next;
  try {
    localStorage.setItem(STORED, next);
  } catch {
    // The choice then lasts as long as the page.
  }
  // The response sets a cookie and redirects to a page that nobody needs here.
  void fetch(`/pages/language/${next}`, { redirect: 'manual' }).catch(() => undefined);
}

/** Returns a text in the current language. */
export function inLocale(text: Text): string {
  return text[locale.value];
}
