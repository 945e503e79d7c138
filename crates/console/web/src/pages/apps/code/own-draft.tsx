// The draft of the person on the server: the editor saves it by itself, and offers it where it is newer than what is shown.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type CallOptions } from '#api/client';
import { asProblem } from '#api/problem';
import type { Schemas } from '#api/types';
import { toast, useAction } from '#frame';
import { Button, Notice, Time } from '#ui';
import type { App } from '../app-page';
import { changesBetween, type Files } from '../source';
import { t } from './messages';
import type { Editing } from './use-source';

/** Pause in typing after which the draft is saved, and the least time between two saves: each is in the audit log. */
const PAUSE = 3_000;
const INTERVAL = 60_000;
/** What happens beside the person's own work asks them nothing. */
const BACKGROUND: CallOptions = { isBackground: true };

interface OwnDraft {
  /** Offers a draft that was saved earlier. */
  readonly notice: ComponentChildren;
  /** Says whether what is in the editor is saved. */
  readonly status: string | null;
  /** Deletes the draft, after it became a version or was given up. */
  readonly end: () => void;
}

type Saved = { readonly files: Files; readonly isFailed: boolean };

/** Saves the files as a draft while `isDirty`. The manifest is kept by this browser alone: a draft has none. */
export function useOwnDraft(app: App, { base, source, original, replace }: Editing, isDirty: boolean): OwnDraft {
  const [found, setFound] = useState<Schemas['Draft'] | null>(null);
  const [saved, setSaved] = useState<Saved | null>(null);
  const last = useRef(0);
  /** Whether the server has one, as far as this page knows. */
  const exists = useRef(false);
  const { files } = source;
  const path = { id: app.id };
  const mayEdit = app.rights.includes('can_edit');
  const hasChanged = isDirty && changesBetween(original.files, files).length > 0 && saved?.files !== files;
  useEffect(() => {
    if (!mayEdit) return;
    // Most apps have none: 404.
    api.get('/v1/apps/{id}/draft', { path }, BACKGROUND).then((draft) => {
      exists.current = true;
      setFound(draft);
    }, () => undefined);
  }, [app.id]);
  useEffect(() => {
    if (!hasChanged) return undefined;
    const timer = setTimeout(() => {
      last.current = Date.now();
      exists.current = true;
      api.put('/v1/apps/{id}/draft', { path, body: { files: { ...files }, baseVersionId: base?.id ?? null } }, BACKGROUND)
        .then(() => setSaved({ files, isFailed: false }), () => setSaved({ files, isFailed: true }));
    }, Math.max(PAUSE, last.current + INTERVAL - Date.now()));
    return () => clearTimeout(timer);
  }, [hasChanged, files, base?.id]);
  const end = () => {
    setFound(null);
    if (exists.current) api.delete('/v1/apps/{id}/draft', { path }, BACKGROUND).catch(() => undefined);
    exists.current = false;
    setSaved(null);
  };
  const restore = () => {
    if (found === null) return;
    const before = source;
    replace({ ...source, files: found.files });
    setFound(null);
    toast(t('draftRestored'), { action: { label: t('undo'), run: () => replace(before) } });
  };
  const remove = useAction(async () => {
    await api.delete('/v1/apps/{id}/draft', { path }).catch((error: unknown) => { if (asProblem(error).status !== 404) throw error; });
    setFound(null);
  });
  const isOffered = found !== null && !isDirty && changesBetween(source.files, found.files).length > 0;
  return {
    end,
    status: !isDirty || saved?.files !== files ? null : saved.isFailed ? t('draftNotSaved') : t('draftSaved'),
    notice: isOffered && (
      <Notice actions={<><Button size="small" onClick={restore}>{t('draftRestore')}</Button><Button size="small" variant="plain" busy={remove.busy} onClick={() => void remove.run()}>{t('draftDelete')}</Button></>}>
        <p>{t.rich('draftFound', { when: <Time at={found.savedAt} /> })}</p>
      </Notice>
    ),
  };
}
