// Catalogues of messages. A page has one of its own, in `messages.ts` beside it; keys and parameters are checked by the compiler.

import type { ComponentChildren } from 'preact';
import { locale, numeralLocale, type Locale } from './locale';

/** A message with forms by the number in `count`. Which forms a language has is what `Intl.PluralRules` says. */
interface PluralEn { readonly one: string; readonly other: string }
interface PluralRu { readonly one: string; readonly few: string; readonly many: string; readonly other?: string }
type Message = string | PluralEn;

type Catalogue = Readonly<Record<string, Message>>;
type Translated<E extends Catalogue, Plural> = { readonly [K in keyof E]: E[K] extends string ? string : Plural };

/** Names of the placeholders in a message, such as `name` in `Hello, {name}`. */
type Placeholders<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never;
type NamesOf<M extends Message> = M extends string ? Placeholders<M> : M extends PluralEn ? 'count' | Placeholders<M['other']> : never;

type Parameters<M extends Message, V> = [NamesOf<M>] extends [never] ? [] : [parameters: { readonly [N in NamesOf<M>]: N extends 'count' ? number : V }];

/** Returns messages of one catalogue in the current language. */
export interface Translate<E extends Catalogue> {
  <K extends keyof E & string>(key: K, ...parameters: Parameters<E[K], string | number>): string;
  /** Returns a message whose parameters may be elements. */
  rich<K extends keyof E & string>(key: K, ...parameters: Parameters<E[K], ComponentChildren>): ComponentChildren;
  /** Returns the message of a key that comes from the API, or `undefined` if there is none. */
  find(key: string): string | undefined;
}

const rules = new Map<Locale, Intl.PluralRules>();
const numbers = new Map<Locale, Intl.NumberFormat>();

function cached<T>(cache: Map<Locale, T>, of: Locale, make: () => T): T {
  const known = cache.get(of);
  if (known) return known;
  const made = make();
  cache.set(of, made);
  return made;
}

function form(message: Message | PluralRu, of: Locale, count: unknown): string {
  if (typeof message === 'string') return message;
  const category = cached(rules, of, () => new Intl.PluralRules(of)).select(Number(count));
  const forms: Readonly<Record<string, string | undefined>> = { ...message };
  return forms[category] ?? forms['other'] ?? forms['many'] ?? '';
}

function show(value: unknown, of: Locale): string {
  return typeof value === 'number' ? cached(numbers, of, () => new Intl.NumberFormat(numeralLocale(of))).format(value) : String(value);
}

const PLACEHOLDER = /\{(\w+)\}/;

/** Defines a catalogue. The compiler refuses one whose languages do not have the same keys. */
export function defineMessages<const E extends Catalogue>(catalogues: {
  readonly en: E;
  readonly ru: Translated<E, PluralRu>;
  readonly kk: Translated<E, PluralEn>;
}): Translate<E> {
  const lookUp = (key: string, parameters: Readonly<Record<string, unknown>>) => {
    const of = locale.value;
    const messages: Readonly<Record<string, Message | PluralRu>> = catalogues[of];
    const message = messages[key];
    return message === undefined ? undefined : form(message, of, parameters['count']);
  };
  const parts = (key: string, parameters: Readonly<Record<string, unknown>>, put: (value: unknown) => ComponentChildren) =>
    (lookUp(key, parameters) ?? key).split(PLACEHOLDER).map((part, index) => (index % 2 === 0 ? part : put(parameters[part])));

  const translate = (key: string, parameters: Readonly<Record<string, unknown>> = {}) =>
    parts(key, parameters, (value) => show(value, locale.value)).join('');
  const rich = (key: string, parameters: Readonly<Record<string, unknown>> = {}) =>
    parts(key, parameters, (value) => (typeof value === 'number' ? show(value, locale.value) : (value as ComponentChildren)));
  const find = (key: string) => lookUp(key, {});
  return Object.assign(translate, { rich, find }) as Translate<E>;
}
