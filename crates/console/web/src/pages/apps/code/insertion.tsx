// What an address puts into the editor: the files of an earlier version, or the manifest of a planned change.

import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import { asProblem, type Problem } from '#api/problem';
import type { Schemas } from '#api/types';
import { query, setQuery } from '#frame';
import { Button, Notice, ProblemView } from '#ui';
import { missingRight, type App } from '../app-page';
import { mergeManifests } from '../merge';
import { MANIFEST, manifestText, sourceOf, type Source } from '../source';
import { readVersion } from '../versions/find';
import { withHost } from './manifest-parts';
import { t } from './messages';
import type { Editing } from './use-source';

/** Returns the manifest of the editor with what the plan changes, also if either has changed since it was planned. */
function planned({ base, original, source }: Editing, { baseVersionId, manifest, diff }: Schemas['OpenPlan']): string {
  if (baseVersionId === base?.id) return mergeManifests(original.manifest, source.manifest, manifestText(manifest));
  const hosts = manifest.permissions?.egress ?? [];
  return hosts.filter(({ host }) => diff.gains.some(({ subject, name }) => subject === 'egress' && name === host))
    .reduce((changed, { host, methods }) => withHost(changed, host, methods ?? null), source.manifest);
}

interface Inserted {
  readonly text: string;
  /** What the person had in the editor before, if it was not saved. */
  readonly before: Pick<Editing, 'base' | 'source'> | null;
}

/** Puts in what the query names, once, and returns what to say about it. A text that this browser kept is put in before: `resuming`. */
export function useInsertion(app: App, editing: Editing, resuming: RefObject<Promise<void>>, onSummary: (summary: string) => void): ComponentChildren {
  const [inserted, setInserted] = useState<Inserted | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const latest = useRef(editing);
  latest.current = editing;
  const mayEdit = missingRight(app, 'can_edit') === null;
  const change = mayEdit ? query.value.get('change') : null;
  const from = mayEdit ? query.value.get('from') : null;
  useEffect(() => {
    let isGone = false;
    const put = (source: (now: Editing) => Source, text: string, summary: string) => {
      const now = latest.current;
      now.replace(source(now));
      onSummary(summary);
      setInserted({ text, before: now.isTouched ? { base: now.base, source: now.source } : null });
    };
    const insert = async () => {
      if (change !== null) {
        const { plan } = await api.get('/v1/changes/{changeId}', { path: { changeId: change } });
        await resuming.current;
        if (isGone) return;
        put((now) => ({ ...now.source, manifest: planned(now, plan) }), t('changeInserted'), plan.summary);
        setQuery({ change: null, file: MANIFEST });
      } else if (from !== null) {
        const version = await readVersion(app.id, Number(from));
        await resuming.current;
        if (isGone) return;
        put(() => sourceOf(version), t('versionInserted', { number: version.number }), t('backTo', { number: version.number }));
        setQuery({ from: null });
      }
    };
    insert().catch((error: unknown) => { if (!isGone) setProblem(asProblem(error)); });
    return () => { isGone = true; };
  }, [app.id, change, from]);
  if (problem) return <ProblemView problem={problem} />;
  if (inserted === null || editing.changes.length === 0) return null;
  const { text, before } = inserted;
  const undo = before && <Button size="small" onClick={() => { editing.resume(before.base, before.source); setInserted(null); }}>{t('undo')}</Button>;
  return <Notice tone="warn" actions={undo}><p>{text}</p></Notice>;
}
