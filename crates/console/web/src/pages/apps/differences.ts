// What an app may do in one version and not in another.

import type { Schemas } from '#api/types';
import type { Manifest } from './source';

export type Subject = 'egress' | 'header' | 'data' | 'connector' | 'secret' | 'ai' | 'trigger';

export interface Difference {
  readonly subject: Subject;
  readonly change: 'added' | 'removed' | 'changed';
  readonly name: string;
  /** Methods, headers, access or budget: of the later manifest, or of the earlier one for what is removed. */
  readonly terms: string;
  /** Whether the app may do something that it could not do before. */
  readonly isGain: boolean;
}

/** Terms of an entry, and how far they reach. */
type Entry = readonly [reach: number, terms: string];
type Entries = ReadonlyMap<string, Entry>;

function egress({ permissions }: Manifest): Entries {
  return new Map((permissions?.egress ?? []).map(({ host, methods }) => {
    if (!methods) return [host, [Infinity, '']];
    const names = [...new Set(methods)].sort();
    return [host, [names.length, names.join(', ')]];
  }));
}

/** Headers with credentials that the code sets itself, by host. */
function headers({ permissions }: Manifest): Entries {
  const all = (permissions?.egress ?? []).map(({ host, headers: names = [] }) => [host, [...new Set(names)].sort()] as const);
  return new Map(all.filter(([, names]) => names.length > 0).map(([host, names]) => [host, [names.length, names.join(', ')]]));
}

function data({ permissions }: Manifest): Entries {
  return new Map((permissions?.data ?? []).map(({ name, projectId, access, tables }) => [
    name, [access === 'write' ? 3 : 1, [access, ...(tables ?? []), projectId].join(', ')],
  ]));
}

function connectors({ permissions }: Manifest): Entries {
  return new Map((permissions?.connectors ?? []).map(({ name, connectionId, methods, paths }) => {
    const terms = [connectionId, [...new Set(methods ?? [])].sort().join(', '), (paths ?? []).join(', ')];
    return [name, [1, terms.filter((part) => part !== '').join('; ')]];
  }));
}

type Connector = Schemas['ConnectorPermission'];

/** Whether a permission for a connection allows all that another one allows. */
function covers(one: Connector, other: Connector): boolean {
  const isBelow = (path: string, prefix: string) => `${path.replace(/\/+$/, '')}/`.startsWith(`${prefix.replace(/\/+$/, '')}/`);
  const hasMethods = !one.methods || (other.methods ?? []).every((method) => one.methods?.includes(method)) && Boolean(other.methods);
  const hasPaths = !one.paths || (other.paths ?? []).every((path) => one.paths?.some((prefix) => isBelow(path, prefix))) && Boolean(other.paths);
  return one.connectionId === other.connectionId && hasMethods && hasPaths;
}

/** Whether a changed connection allows something new. */
function widens(name: string, before: Manifest, after: Manifest): boolean {
  const find = ({ permissions }: Manifest) => permissions?.connectors?.find((connector) => connector.name === name);
  const [was, is] = [find(before), find(after)];
  return was === undefined || is === undefined || !covers(was, is);
}

function secrets({ permissions }: Manifest): Entries {
  return new Map((permissions?.secrets ?? []).map(({ name, uses, clear }) => {
    if (clear) return [name, [Infinity, 'clear']];
    const named = [...new Set(uses ?? [])].sort();
    return [name, uses ? [named.length, named.join(', ')] : [100, '']];
  }));
}

function ai({ permissions }: Manifest): Entries {
  const models = permissions?.ai;
  return new Map(models ? [['', [1, [`${models.monthlyBudgetUsd} USD`, ...(models.models ?? [])].join(', ')] as const]] : []);
}

function triggerName(trigger: Schemas['ManifestTrigger']): string {
  if (trigger.type === 'schedule' && trigger.cron) return `schedule ${trigger.cron}`;
  return trigger.type === 'event' && trigger.event ? `event ${trigger.event}` : trigger.type;
}

function triggers(manifest: Manifest): Entries {
  return new Map((manifest.triggers ?? []).map((trigger) => [triggerName(trigger), [1, '']]));
}

const SUBJECTS: readonly (readonly [Subject, (manifest: Manifest) => Entries])[] = [
  ['egress', egress], ['header', headers], ['data', data], ['connector', connectors], ['secret', secrets], ['ai', ai], ['trigger', triggers],
];

function compare(subject: Subject, before: Entries, after: Entries): readonly Difference[] {
  const kept = [...after].flatMap(([name, [reach, terms]]): Difference[] => {
    const known = before.get(name);
    if (known === undefined) return [{ subject, change: 'added', name, terms, isGain: true }];
    if (known[1] === terms) return [];
    // As many, but different methods allow something new too.
    return [{ subject, change: 'changed', name, terms, isGain: reach >= known[0] }];
  });
  const removed = [...before].filter(([name]) => !after.has(name));
  return [...kept, ...removed.map(([name, [, terms]]): Difference => ({ subject, change: 'removed', name, terms, isGain: false }))];
}

/** Returns the differences between two manifests by subject. */
export function differencesBetween(before: Manifest, after: Manifest): readonly Difference[] {
  const all = SUBJECTS.flatMap(([subject, entries]) => compare(subject, entries(before), entries(after)));
  return all.map((one) => (one.subject === 'connector' && one.change === 'changed' ? { ...one, isGain: widens(one.name, before, after) } : one));
}
