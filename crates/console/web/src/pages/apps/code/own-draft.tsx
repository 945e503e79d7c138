// The draft of the person on the server: the editor saves it by itself, and offers it where it is another one than what is shown.
//
// A draft that another browser has saved is not overwritten until the person has decided about it.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, tagOf, type CallOptions } from '#api/client';
import { asProblem } from '#api/problem';
import type { Schemas } from '#api/types';
import { toast, useAction, type Action } from '#frame';
import { Button, Notice, Time } from '#ui';
import type { App } from '../app-page';
import { changesBetween, type Files } from '../source';
import { t } from './messages';
import { resumeFrom } from './resume';
import type { Editing } from './use-source';

/** Pause in typing after which the draft is saved, and the least time between two saves: each is in the audit log. */
const PAUSE = 3_000;
const INTERVAL = 60_000;
/** What happens beside the person's own work asks them nothing. */
const BACKGROUND: CallOptions = { isBackground: true };

type Draft = Schemas['Draft'];

export interface OwnDraft {
  /** Asks about a draft that the person has not decided about. */
  readonly notice: ComponentChildren;
  /** Says whether what is in the editor is saved. */
  readonly status: string | null;
  /** Tag of the draft in whose place the editor's text is saved. It is kept with the text. */
  readonly tag: string | null;
  /** Whether the person has to decide about a draft before theirs is saved. */
  readonly isUndecided: boolean;
  /** Goes on with a text that was kept with this tag. */
  readonly resume: (tag: string | null) => void;
  /** Saves the files now. Resolves to whether it did: not over a draft that the person has not decided about. */
  readonly save: () => Promise<boolean>;
  /** Puts the draft that the server has into the editor. */
  readonly take: Action<[]>;
  readonly remove: Action<[]>;
  /** Deletes the draft, after it became a version or was given up. */
  readonly end: () => void;
}

/** What became of the last attempt to save these files. */
type Saved = { readonly files: Files; readonly isFailed: boolean };

const isSame = (a: Files, b: Files) => changesBetween(a, b).length === 0;

/** Saves the files as a draft while `isDirty`. The manifest is kept by this browser alone: a draft has none. */
export function useOwnDraft(app: App, editing: Editing, isDirty: boolean): OwnDraft {
  const { base, source, original } = editing;
  const { files } = source;
  const path = { id: app.id };
  /** The draft that the server has, as far as this page has read it. */
  const found = useSignal<Draft | null>(null);
  /** Tag of the draft that the person has decided about: it was saved from this text, is in it, or is to be replaced by it. */
  const decided = useSignal<string | null>(null);
  const [saved, setSaved] = useState<Saved | null>(null);
  const last = useRef(0);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const mayEdit = app.rights.includes('can_edit');
  // A draft that is what the editor or the version has would not be lost.
  const isOther = (draft: Draft | null, tag: string | null) => draft !== null && tagOf(draft) !== tag && !isSame(draft.files, files) && !isSame(draft.files, original.files);
  const offered = isOther(found.value, decided.value) ? found.value : null;
  const isUndecided = offered !== null;
  const mustSave = isDirty && !isUndecided && saved?.files !== files && !isSame(original.files, files);

  /** Runs one task after the other. A request that overtakes another one would take its draft for that of another browser. */
  const inTurn = <T,>(task: () => Promise<T>): Promise<T> => {
    const run = queue.current.then(task);
    queue.current = run.catch(() => undefined);
    return run;
  };
  const settle = (draft: Draft | null) => {
    found.value = draft;
    decided.value = tagOf(draft);
  };
  const read = async (options: CallOptions): Promise<Draft | null> => {
    const draft = await api.get('/v1/apps/{id}/draft', { path }, options).catch((error: unknown) => {
      if (asProblem(error).status !== 404) throw error;
      return null;
    });
    if (draft === null) settle(null);
    else found.value = draft;
    return draft;
  };
  const write = async (options: CallOptions): Promise<boolean> => {
    for (let isAgain = false; ; isAgain = true) {
      // No precondition says that there must be no draft yet, and after a conflict there is another one or none.
      if (isAgain || decided.peek() === null) {
        const there = await read(options);
        if (isOther(there, decided.peek())) return false;
        settle(there);
      }
      try {
        settle(await api.put('/v1/apps/{id}/draft', { path, body: { files: { ...files }, baseVersionId: base?.id ?? null } }, { ...options, throwsConflict: true, ifMatch: decided.peek() }));
        return true;
      } catch (error) {
        if (isAgain || asProblem(error).status !== 412) throw error;
      }
    }
  };

  useEffect(() => {
    // If it cannot be read now, it is read before the first save.
    if (mayEdit) inTurn(() => read(BACKGROUND)).catch(() => undefined);
  }, [app.id]);
  // There is nothing to decide about a draft that the editor has as it is.
  useEffect(() => {
    if (found.value === null || !isSame(found.value.files, files)) return;
    decided.value = tagOf(found.value);
    setSaved({ files, isFailed: false });
  }, [found.value, files]);
  useEffect(() => {
    if (!mustSave) return undefined;
    const timer = setTimeout(() => {
      last.current = Date.now();
      inTurn(() => write(BACKGROUND)).then((isSaved) => setSaved(isSaved ? { files, isFailed: false } : null), () => setSaved({ files, isFailed: true }));
    }, Math.max(PAUSE, last.current + INTERVAL - Date.now()));
    return () => clearTimeout(timer);
  }, [mustSave, files, base?.id]);

  const save = async () => {
    const isSaved = await inTurn(() => write({}));
    if (isSaved) setSaved({ files, isFailed: false });
    return isSaved;
  };
  const take = useAction(async () => {
    const tag = decided.peek();
    await inTurn(async () => {
      const draft = await api.get('/v1/apps/{id}/draft', { path });
      // The manifest stays: a draft has none.
      await resumeFrom(app.id, editing, draft.baseVersionId, { ...source, files: draft.files });
      settle(draft);
    });
    toast(t('draftRestored'), { action: { label: t('undo'), run: () => { editing.resume(base, source); decided.value = tag; } } });
  });
  const remove = useAction(async () => {
    await inTurn(() => api.delete('/v1/apps/{id}/draft', { path }, { ifMatch: tagOf(found.peek()) })).catch(async (error: unknown) => {
      const { status } = asProblem(error);
      if (status === 412) await read({});
      if (status !== 404) throw error;
    });
    settle(null);
    // The editor's own text is not saved at once as the draft that the person has just deleted.
    setSaved(isUndecided ? null : { files, isFailed: true });
    toast(t('draftDeleted'));
  });
  const keepMine = () => {
    decided.value = tagOf(found.peek());
    last.current = 0;
  };
  const end = () => {
    setSaved(null);
    inTurn(async () => {
      const tag = decided.peek();
      // One that the person has not decided about stays.
      if (tag === null || (found.peek() !== null && tagOf(found.peek()) !== tag)) return;
      settle(null);
      await api.delete('/v1/apps/{id}/draft', { path }, { ...BACKGROUND, ifMatch: tag });
    }).catch(() => undefined);
  };
  const actions = (
    <>
      <Button size="small" busy={take.busy} onClick={() => void take.run()}>{t('draftRestore')}</Button>
      <Button size="small" onClick={keepMine}>{t('draftKeepMine')}</Button>
      <Button size="small" variant="plain" busy={remove.busy} onClick={() => void remove.run()}>{t('draftDelete')}</Button>
    </>
  );
  return {
    tag: decided.value, isUndecided, save, take, remove, end,
    resume: (tag) => { decided.value = tag; },
    status: !isDirty ? null : isUndecided ? t('draftNotSaved') : saved?.files !== files ? null : saved.isFailed ? t('draftNotSaved') : t('draftSaved'),
    notice: offered && <Notice tone="warn" actions={actions}><p>{t.rich('draftFound', { when: <Time at={offered.savedAt} /> })} {t('draftWaits')}</p></Notice>,
  };
}
