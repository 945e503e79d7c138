// Looking at the rows as somebody to whom the rules apply: which of those in sight would be shown, and by which rule.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { toastProblem } from '#frame';
import { Menu } from '#ui';
import { askPerson } from '../rules/person';
import { t } from './messages';
import type { GridModel } from './model';

type Caller = Schemas['TrialCaller'];

export interface Trial {
  readonly caller: Caller | null;
  readonly set: (caller: Caller | null) => void;
  /** What the person sees, in words. */
  readonly note: string | null;
}

const AT_ONCE = 20;

/** Asks the rules about rows, and tells the model which are hidden. */
export function useTrial(project: Schemas['Project'], table: Schemas['Table'], model: GridModel): Trial {
  const caller = useSignal<Caller | null>(null);
  const as = caller.value;
  void model.looks.value;
  const ids = as === null ? '' : model.idsAround().join(' ');
  useEffect(() => {
    if (as === null) {
      model.hidden.value = new Map();
      return undefined;
    }
    let isGone = false;
    const list = ids.split(' ').filter((id) => id !== '');
    const ask = async () => {
      const hidden = new Map<string, string>();
      for (let from = 0; from < list.length; from += AT_ONCE) {
        const part = list.slice(from, from + AT_ONCE).map((id) => `"${id.replace(/["\\]/g, '\\$&')}"`).join(',');
        const verdict = await api.post('/v1/backend/projects/{projectId}/tables/{table}/policy/test', {
          path: { projectId: project.id, table: table.name }, body: { as, action: 'read', filter: `id=in.(${encodeURIComponent(part)})` },
        });
        for (const row of verdict.rows) if (row.decision === 'deny') hidden.set(row.id, t('hiddenRow'));
        if (isGone) return;
      }
      model.hidden.value = hidden;
    };
    const timer = setTimeout(() => ask().catch((error: unknown) => { if (!isGone) toastProblem(error); }), 150);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [as, ids, model]);
  return { caller: as, set: (next) => { caller.value = next; }, note: as === null ? null : model.hidden.value.size === 0 ? t('allShown') : t('someHidden') };
}

export function CallerSwitch({ project, trial: { caller, set } }: { project: Schemas['Project']; trial: Trial }) {
  const keys = useResource('/v1/backend/projects/{projectId}/keys', { path: { projectId: project.id }, query: { limit: 200 } }, { on: ['project_key'] });
  const secretKeys = (keys.data ?? []).filter(({ kind, revokedAt }) => kind === 'secret' && revokedAt === null);
  const person = async () => {
    const claims = await askPerson(caller?.kind === 'person' ? caller.claims : { sub: '' });
    if (claims) set({ kind: 'person', claims: claims as Record<string, never> });
  };
  const keyName = (id: string) => secretKeys.find((key) => key.id === id)?.name ?? id;
  const label = () => {
    switch (caller?.kind) {
      case undefined: return t('asOwner');
      case 'visitor': return t('asVisitor');
      case 'person': return t('asPersonNamed', { name: String((caller.claims as Readonly<Record<string, unknown>>)['sub'] ?? '') });
      case 'key': return t('asKey', { name: keyName(caller.keyId) });
    }
  };
  return (
    <Menu
      size="small" icon="eye" class={caller === null ? '' : 'is-set'}
      items={[
        { label: t('asOwner'), checked: caller === null, onSelect: () => set(null) },
        { label: t('asVisitor'), checked: caller?.kind === 'visitor', onSelect: () => set({ kind: 'visitor' }) },
        { label: t('asPerson'), checked: caller?.kind === 'person', onSelect: () => void person() },
        ...secretKeys.map(({ id, name }) => ({ label: t('asKey', { name }), checked: caller?.kind === 'key' && caller.keyId === id, onSelect: () => set({ kind: 'key', keyId: id }) })),
      ]}
    >
      {label()}
    </Menu>
  );
}
