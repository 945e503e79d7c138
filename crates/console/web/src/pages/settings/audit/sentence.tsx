// An entry of the audit log as a sentence: who did what to which object, each part a link to its page.

import type { ComponentChildren } from 'preact';
import type { Schemas } from '#api/types';
import { t } from './messages';

type Entry = Schemas['AuditEntry'];
type Words = Extract<Parameters<typeof t.rich>[0], `did_${string}`>;

function isWords(key: string): key is Words {
  return t.find(key) !== undefined;
}

function wordsOf(action: string): Words | null {
  const key = `did_${action}`;
  return isWords(key) ? key : null;
}

/** Returns an action without who did it and to what, for a list of actions. */
export function actionText(action: string): string {
  const words = wordsOf(action);
  if (words === null) return action;
  const text = t(words, { actor: '', object: '…', what: '…' }).replaceAll('()', '').replace(/^[\s:]+/, '').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The sentence of an entry. */
export function Sentence({ ws, entry }: { ws: string; entry: Entry }) {
  const words = wordsOf(entry.action);
  const parts = { actor: <Actor ws={ws} actor={entry.actor} />, object: <ObjectLink ws={ws} entry={entry} />, what: whatOf(entry) };
  return <span class="audit-sentence">{words === null ? t.rich('unknown', { ...parts, what: <code>{entry.action}</code> }) : t.rich(words, parts)}</span>;
}

function Actor({ ws, actor }: { ws: string; actor: Entry['actor'] }) {
  const name = actorName(actor);
  const person = actor.id.startsWith('usr_') ? <a class="audit-actor" href={`/w/${ws}/people/members/${actor.id}`}>{name}</a> : <b class="audit-actor">{name}</b>;
  if (actor.grantId !== null) return <>{person} <span class="muted">({t('byAgent', { agent: actor.clientName ?? t('anAgent') })})</span></>;
  return actor.tokenId === null ? person : <>{person} <span class="muted">({t('withToken')})</span></>;
}

/** Returns the name of who acted. */
export function actorName({ id, name }: Pick<Entry['actor'], 'id' | 'name'>): string {
  if (name !== null) return name;
  if (id === 'visitor') return t('visitor');
  if (id.startsWith('system:')) return t('qala', { part: id.slice('system:'.length) });
  return id.startsWith('pkey_') ? t('aKey') : id;
}

const kindOf = (id: string) => id.slice(0, id.lastIndexOf('_'));

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns a member of the details as a text. */
function detail(entry: Entry, ...names: readonly string[]): string | null {
  const members = (entry.detail ?? {}) as Readonly<Record<string, unknown>>;
  return names.map((name) => text(members[name])).find((found) => found !== null) ?? null;
}

/** Returns the second thing that an entry names: a version's number, a table, a secret, a key. */
function whatOf(entry: Entry): ComponentChildren {
  const name = kindOf(entry.target ?? '') === 'ver' || kindOf(entry.target ?? '') === 'pkey' ? entry.object?.name : null;
  return <b>{name ?? text(String((entry.detail as { number?: number } | null)?.number ?? '')) ?? detail(entry, 'table', 'name', 'hint') ?? t('nothing')}</b>;
}

/** Objects whose entries name their app. */
const OF_APP = ['app', 'ver', 'chg'];
/** Folders of the pages of other objects, by the prefix of their ids. */
const FOLDERS: Readonly<Record<string, string>> = { run: 'runs', dl: 'dead-letters', gate: 'gates', conn: 'connections', imp: 'imports', usr: 'people/members' };

/** Returns the name of an object, and the address of its page if it has one. */
export function objectOf(ws: string, entry: Entry): { name: string; href: string | null } {
  const { target, object } = entry;
  const kind = kindOf(target ?? '');
  const named = (name: string | null | undefined, href: string | null) => ({ name: name ?? detail(entry, 'name', 'domain', 'email', 'host', 'hint') ?? target ?? t('nothing'), href });
  if (object === null) return named(null, null);
  const { appId, automationId, projectId } = object;
  if (OF_APP.includes(kind)) return named(object.appName, appId && (kind === 'chg' ? `/w/${ws}/apps/${appId}/changes/${target}` : `/w/${ws}/apps/${appId}`));
  if (kind === 'proj' || kind === 'pkey') return named(object.projectName, projectId && `/w/${ws}/data/${projectId}`);
  if (kind === 'auto' || kind === 'hook') return named(object.automationName, automationId && `/w/${ws}/automations/${automationId}${kind === 'hook' ? '/webhook' : ''}`);
  if (kind === 'tool') return named(object.name, automationId && `/w/${ws}/tools/${automationId}`);
  const run = detail(entry, 'run');
  if (kind === 'apv') return named(object.name, run && `/w/${ws}/runs/${run}`);
  const folder = FOLDERS[kind];
  return named(object.name ?? object.automationName ?? object.appName, folder === undefined ? null : `/w/${ws}/${folder}/${target}`);
}

function ObjectLink({ ws, entry }: { ws: string; entry: Entry }) {
  const { name, href } = objectOf(ws, entry);
  return href === null ? <b>{name}</b> : <a class="audit-object" href={href}>{name}</a>;
}
