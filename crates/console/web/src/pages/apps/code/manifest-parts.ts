// Entries that one puts into a manifest with a click.

import type { Schemas } from '#api/types';
import { manifestText, parseManifest, type Manifest } from '../source';

type Egress = Schemas['EgressPermission'];
type Data = Schemas['DataPermission'];
type Trigger = Schemas['ManifestTrigger'];

/** Changes the manifest of a text. A text that is not JSON stays as it is. */
function edited(text: string, change: (manifest: Manifest) => Manifest): string {
  const manifest = parseManifest(text);
  return manifest === null ? text : manifestText(change(manifest));
}

/** Names a host, or adds methods to a host that is named. Without methods, all are allowed. */
export function withHost(text: string, host: string, methods: Egress['methods']): string {
  return edited(text, (manifest) => {
    const egress = manifest.permissions?.egress ?? [];
    const known = egress.find((entry) => entry.host === host);
    const all = known === undefined ? methods : known.methods && methods ? [...new Set([...known.methods, ...methods])] : null;
    const kept = known?.headers ? { headers: known.headers } : {};
    const entry: Egress = { host, ...(all ? { methods: all } : {}), ...kept };
    const next = known === undefined ? [...egress, entry] : egress.map((one) => (one === known ? entry : one));
    return { ...manifest, permissions: { ...manifest.permissions, egress: next } };
  });
}

/** Returns a name for the code, made from the project's: `Order desk` becomes `orderDesk`. */
function bindingOf(name: string, taken: readonly string[]): string {
  const words = name.normalize('NFKD').replace(/[^\w ]/g, '').split(/\W+/).filter((word) => word !== '');
  const joined = words.map((word, index) => (index === 0 ? word.toLowerCase() : word[0]?.toUpperCase() + word.slice(1).toLowerCase())).join('').replace(/^[\d_]+/, '').slice(0, 36) || 'data';
  let candidate = joined;
  for (let number = 2; taken.includes(candidate); number += 1) candidate = `${joined}${number}`;
  return candidate;
}

export function withProject(text: string, project: Pick<Schemas['Project'], 'id' | 'name'>, access: Data['access']): string {
  return edited(text, (manifest) => {
    const data = manifest.permissions?.data ?? [];
    const entry: Data = { name: bindingOf(project.name, data.map(({ name }) => name)), projectId: project.id, access };
    return { ...manifest, permissions: { ...manifest.permissions, data: [...data, entry] } };
  });
}

export function withTrigger(text: string, trigger: Trigger): string {
  return edited(text, (manifest) => ({ ...manifest, triggers: [...(manifest.triggers ?? []), trigger] }));
}
