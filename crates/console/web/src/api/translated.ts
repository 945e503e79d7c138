// What the server says in the person's language, and what changes only with the server.

import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { locale, type Locale } from '#i18n';
import { send } from './client';
import { asProblem, type Problem } from './problem';

interface State<T> {
  readonly data: T | undefined;
  readonly error: Problem | undefined;
}

const states = new Map<string, Signal<State<unknown>>>();
const reading = new Set<string>();

function stateOf(key: string): Signal<State<unknown>> {
  const known = states.get(key) ?? signal<State<unknown>>({ data: undefined, error: undefined });
  states.set(key, known);
  return known;
}

async function read(url: string, language: Locale): Promise<void> {
  const key = `${language} ${url}`;
  if (reading.has(key)) return;
  reading.add(key);
  try {
    const { data } = await send<unknown>({ method: 'GET', url, headers: { 'accept-language': language } });
    stateOf(key).value = { data, error: undefined };
  } catch (error) {
    stateOf(key).value = { data: undefined, error: asProblem(error) };
  } finally {
    reading.delete(key);
  }
}

/** Reads a document once for each language. */
export function useTranslated<T>(url: string): State<T> & { readonly refresh: () => void } {
  const language = locale.value;
  const state = stateOf(`${language} ${url}`) as Signal<State<T>>;
  useEffect(() => { if (state.peek().data === undefined) void read(url, language); }, [url, language]);
  return { ...state.value, refresh: () => void read(url, language) };
}
