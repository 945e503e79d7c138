// What an address puts into the editor: the files of an earlier version, or the manifest of a planned change.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '#api/client';
import { asProblem, type Problem } from '#api/problem';
import type { Schemas } from '#api/types';
import { query, setQuery } from '#frame';
import { Notice, ProblemView } from '#ui';
import { missingRight, type App } from '../app-page';
import { MANIFEST, manifestText, sourceOf } from '../source';
import { readVersion } from '../versions/find';
import { withHost } from './manifest-parts';
import { t } from './messages';
import type { Editing } from './use-source';

/** Returns the manifest with what the plan adds, also if the app has changed since it was planned. */
function planned(text: string, baseId: string | undefined, { baseVersionId, manifest, diff }: Schemas['OpenPlan']): string {
  if (baseVersionId === baseId) return manifestText(manifest);
  const hosts = manifest.permissions?.egress ?? [];
  return hosts.filter(({ host }) => diff.gains.some(({ subject, name }) => subject === 'egress' && name === host))
    .reduce((changed, { host, methods }) => withHost(changed, host, methods ?? null), text);
}

/** Puts in what the query names, once, and returns what to say about it. */
export function useInsertion(app: App, editing: Editing, onSummary: (summary: string) => void): ComponentChildren {
  const [said, setSaid] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const mayEdit = missingRight(app, 'can_edit') === null;
  const change = mayEdit ? query.value.get('change') : null;
  const from = mayEdit ? query.value.get('from') : null;
  useEffect(() => {
    let isGone = false;
    const insert = async () => {
      if (change !== null) {
        const { plan } = await api.get('/v1/changes/{changeId}', { path: { changeId: change } });
        if (isGone) return;
        editing.setText(MANIFEST, planned(editing.source.manifest, editing.base?.id, plan));
        onSummary(plan.summary);
        setSaid(t('changeInserted'));
        setQuery({ change: null, file: MANIFEST });
      } else if (from !== null) {
        const version = await readVersion(app.id, Number(from));
        if (isGone) return;
        editing.replace(sourceOf(version));
        onSummary(t('backTo', { number: version.number }));
        setSaid(t('versionInserted', { number: version.number }));
        setQuery({ from: null });
      }
    };
    insert().catch((error: unknown) => { if (!isGone) setProblem(asProblem(error)); });
    return () => { isGone = true; };
  }, [app.id, change, from]);
  if (problem) return <ProblemView problem={problem} />;
  return said !== null && editing.changes.length > 0 ? <Notice tone="warn"><p>{said}</p></Notice> : null;
}
