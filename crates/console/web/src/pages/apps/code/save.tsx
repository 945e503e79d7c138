// Saving: what differs from the current version is looked at first, then becomes the new one.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { asProblem, type Problem } from '#api/problem';
import type { Schemas } from '#api/types';
import { Button, Code, Dialog, Notice, ProblemView, RequestMenu, TextField, languageOf, openDialog } from '#ui';
import { useAction } from '#frame';
import { differencesBetween } from '../differences';
import { parseManifest, textsOf, type Source } from '../source';
import { DifferenceList } from './difference-list';
import { t } from './messages';
import type { Editing } from './use-source';

export type Made = Schemas['MadeVersion'];
/** What became of an attempt: a version, a problem of the source, or that somebody else was faster. */
export type Saved = { readonly made: Made } | { readonly problem: Problem } | { readonly isStale: true };

interface SaveProps {
  readonly appId: string;
  readonly editing: Editing;
  readonly summary: string;
}

/** Shows what is saved, and saves it. Resolves to `undefined` if the person leaves it. */
export function save(props: SaveProps): Promise<Saved | undefined> {
  return openDialog<Saved>((close) => <Save {...props} close={close} />);
}

function bodyOf({ files, manifest }: Source, summary: string): Schemas['NewVersion'] {
  const parsed = parseManifest(manifest);
  return { files: { ...files }, ...(parsed === null ? {} : { manifest: parsed }), ...(summary.trim() === '' ? {} : { summary: summary.trim() }) };
}

async function attempt(appId: string, { base, source }: Editing, summary: string): Promise<Saved> {
  // The current version is read last: whoever saved meanwhile is not overwritten unseen.
  const { currentVersionId } = await api.get('/v1/apps/{id}', { path: { id: appId } });
  if (currentVersionId !== (base?.id ?? null)) return { isStale: true };
  try {
    return { made: await api.post('/v1/apps/{id}/versions', { path: { id: appId }, body: bodyOf(source, summary) }) };
  } catch (error) {
    const problem = asProblem(error);
    if (problem.code === 'stale_version') return { isStale: true };
    // What is wrong with the source is shown in the editor; anything else here, where one can try again.
    if (problem.code === 'invalid_request') return { problem };
    throw error;
  }
}

function Save({ appId, editing, summary: suggested, close }: SaveProps & { close: (saved?: Saved) => void }) {
  const [summary, setSummary] = useState(suggested);
  const go = useAction(async () => close(await attempt(appId, editing, summary)), { shows: 'inline' });
  const before = parseManifest(editing.original.manifest);
  const after = parseManifest(editing.source.manifest);
  const actions = (
    <>
      <RequestMenu call={{ method: 'POST', url: `/v1/apps/${appId}/versions`, body: bodyOf(editing.source, summary) }} />
      <Button onClick={() => close()}>{t('back')}</Button>
      <Button type="submit" form="save-version" variant="primary" busy={go.busy}>{t('publish')}</Button>
    </>
  );
  return (
    <Dialog title={t('saveTitle')} size="wide" onClose={() => close()} actions={actions}>
      <form id="save-version" class="save" onSubmit={(event) => { event.preventDefault(); void go.run(); }}>
        <TextField label={t('summary')} hint={t('summaryHint')} value={summary} onInput={setSummary} maxlength={300} autofocus />
        {before && after && <DifferenceList differences={differencesBetween(before, after)} />}
        <Changes editing={editing} />
        <Notice><p>{t('takesEffect')}</p></Notice>
        {go.problem && <ProblemView problem={go.problem} />}
      </form>
    </Dialog>
  );
}

function Changes({ editing: { changes, original, source } }: { editing: Editing }) {
  const before = textsOf(original);
  const after = textsOf(source);
  return (
    <section class="save-files">
      <h3>{t('changedFiles', { count: changes.length })}</h3>
      {changes.map(({ path, change }, index) => (
        <details key={path} open={index === 0}>
          <summary><code>{path}</code> <span class="muted">{t(`change_${change}`)}</span></summary>
          <Code label={path} language={languageOf(path)} value={after[path] ?? ''} original={before[path] ?? ''} height="short" />
        </details>
      ))}
    </section>
  );
}
