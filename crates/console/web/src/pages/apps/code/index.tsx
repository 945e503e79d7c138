// The code of an app: files and manifest, edited and saved as a new version.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Problem } from '#api/problem';
import { invalidate, useResource } from '#api/resource';
import { navigate, query, setQuery, toast, toastProblem, useAction, useCommands, useUnsaved, type RouteProps } from '#frame';
import { Button, Code, Loaded, Notice, ProblemView, confirm, languageOf, parseJson } from '#ui';
import { AppPage, missingRight, type App } from '../app-page';
import { locate, type Located } from '../located';
import { MANIFEST, MAX_FILES, MAX_TOTAL_BYTES, bytesOf, entryAmong, manifestText, type Source } from '../source';
import { starterFiles } from '../starters';
import { DraftPanel } from './draft';
import { useFailedRun } from './failed-run';
import { FileTabs } from './file-tabs';
import { useInsertion } from './insertion';
import { useOwnDraft } from './own-draft';
import { ManifestEditor } from './manifest-editor';
import { t } from './messages';
import { resumeFrom } from './resume';
import { save } from './save';
import { Stale } from './stale';
import { useSource, type Editing, type Version } from './use-source';

export default function CodePage({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id/code'>) {
  return <AppPage ws={ws} id={id} part="code" isWide>{(app) => <Current ws={ws} app={app} />}</AppPage>;
}

function Current({ ws, app }: { ws: string; app: App }) {
  const versionId = app.currentVersionId ?? null;
  const version = useResource('/v1/apps/{id}/versions/{versionId}', versionId === null ? null : { path: { id: app.id, versionId } });
  // What is edited stays while a newer version is read.
  const [shown, setShown] = useState<Version | null>(null);
  useEffect(() => { if (version.data) setShown(version.data); }, [version.data]);
  if (versionId === null) return <Editor key={app.id} ws={ws} app={app} current={null} />;
  if (shown) return <Editor key={app.id} ws={ws} app={app} current={shown} />;
  return <Loaded resource={version} lines={12}>{() => null}</Loaded>;
}

/** Source that an app without a version begins with. */
function firstSource({ name, description, archetype, category }: App): Source {
  const manifest = { name, description: description || name, archetype, category, permissions: {}, triggers: [{ type: 'manual' as const }, { type: 'webhook' as const }] };
  return { files: starterFiles('scheduled'), manifest: manifestText(manifest) };
}

function Editor({ ws, app, current }: { ws: string; app: App; current: Version | null }) {
  const editing = useSource(current, firstSource(app));
  const [summary, setSummary] = useState('');
  const failedRun = useFailedRun(ws, app.id);
  const [isTrying, setTrying] = useState(query.peek().get('run') !== null);
  const [failure, setFailure] = useState<{ readonly problem: Problem; readonly place: Located | null } | null>(null);
  const { source, changes } = editing;
  const refusal = missingRight(app, 'can_edit');
  const isDirty = editing.isTouched && refusal === null;
  const draft = useOwnDraft(app, editing, isDirty);
  /** Going on with a text that was kept, whose version may have to be read. */
  const resuming = useRef(Promise.resolve());
  const restore = (kept: KeptCode) => {
    draft.resume(kept.draftTag ?? null);
    resuming.current = resumeFrom(app.id, editing, kept.baseId, kept.source).then(() => setSummary(kept.summary), toastProblem);
  };
  const unsaved = useUnsaved<KeptCode>(isDirty, { form: 'code', value: { source, baseId: editing.base?.id ?? null, summary, draftTag: draft.tag }, restore });
  const inserted = useInsertion(app, editing, resuming, setSummary);
  const tab = shownTab(source);
  const choose = (name: string) => setQuery({ file: name });
  const publish = useAction(async (replays: boolean = false) => {
    setFailure(null);
    const saved = await save({ appId: app.id, editing, summary });
    if (saved === undefined) return;
    if ('made' in saved) {
      const version = await api.get('/v1/apps/{id}/versions/{versionId}', { path: { id: app.id, versionId: saved.made.id } });
      unsaved.discard();
      draft.end();
      invalidate(['app', `app:${app.id}`, 'gate']);
      setSummary('');
      editing.restart(version);
      toast(t('published', { number: version.number }), saved.made.needsConsole.length > 0 ? { detail: saved.made.needsConsole.join(' ') } : {});
      if (replays && failedRun) {
        const { runId } = await api.post('/v1/runs/{id}/replay', { path: { id: failedRun.run.id }, body: { version: 'current' } });
        await navigate(`/w/${ws}/runs/${runId}`);
      } else {
        setQuery({ run: null, at: null });
      }
    } else if ('problem' in saved) {
      const place = locate(saved.problem, source);
      setFailure({ problem: saved.problem, place });
      if (place) choose(place.tab);
    } else {
      invalidate([`app:${app.id}`]);
      toast(t('staleToast'), { tone: 'bad' });
    }
  });
  const unavailable = refusal ?? unsavable(source, changes.length);
  useCommands([
    { id: 'apps.save', label: t('save'), keys: 'mod+s', run: () => { if (unavailable === null) void publish.run(); else toast(unavailable, { tone: 'bad' }); } },
  ]);
  const setText = (text: string) => {
    setFailure(null);
    editing.setText(tab, text);
  };
  // The error of a run is where it was until its code is changed.
  const place = failure?.place ?? (changes.some(({ path }) => path === failedRun?.place?.tab) ? null : failedRun?.place ?? null);
  const problem = place?.tab === tab ? place : null;
  return (
    <div class="editor">
      {refusal && <Notice><p>{refusal}</p></Notice>}
      {inserted}
      {draft.notice}
      {isDirty && current && current.id !== editing.base?.id && <Stale ws={ws} app={app} editing={editing} current={current} />}
      {failure && (place ? <Notice tone="bad"><p>{t('refusedAt', { file: place.tab, line: place.line })} {place.message}</p></Notice> : <ProblemView problem={failure.problem} />)}
      {place !== null && failure === null && failedRun && <Notice tone="bad" actions={<a class="link" href={`/w/${ws}/runs/${failedRun.run.id}`}>{t('openRun')}</a>}><p>{t('failedAt', { file: place.tab, line: place.line })} {place.message}</p></Notice>}
      <div class="editor-head">
        <FileTabs
          paths={Object.keys(source.files).sort()} shown={tab} changed={new Set(changes.map(({ path }) => path))} faulty={place?.tab ?? null} onChoose={choose}
          edit={refusal === null ? filesEdit(editing, choose) : undefined}
        />
        <div class="editor-actions">
          {isDirty && <span class="muted" role="status">{t('unsaved', { count: changes.length })}{draft.status !== null && <> · {draft.status}</>}</span>}
          {isDirty && <Button onClick={() => void discard(editing, firstSource(app), draft.end)}>{t('discard')}</Button>}
          <Button unavailable={refusal} onClick={() => setTrying(!isTrying)}>{isTrying ? t('stopTrying') : t('tryIt')}</Button>
          {failedRun && <Button icon="replay" unavailable={unavailable ?? missingRight(app, 'can_run')} onClick={() => void publish.run(true)}>{t('saveAndReplay')}</Button>}
          <Button variant="primary" command="apps.save" unavailable={unavailable} onClick={() => void publish.run()}>{t('save')}</Button>
        </div>
      </div>
      <div class={`editor-columns ${isTrying ? 'is-trying' : ''}`}>
      {tab === MANIFEST
        ? <ManifestEditor ws={ws} value={source.manifest} onChange={refusal === null ? setText : undefined} problem={problem} />
        : <Code key={tab} label={tab} language={languageOf(tab)} value={source.files[tab] ?? ''} onChange={refusal === null ? setText : undefined} problem={problem} height="tall" />}
      {isTrying && <DraftPanel key={failedRun?.input.isKnown ? 'known' : 'own'} ws={ws} app={app} editing={editing} draft={draft} input={failedRun?.input.isKnown ? failedRun.input.value : undefined} />}
      </div>
      {editing.base && <p class="muted editor-base">{t('basedOn', { number: editing.base.number })}</p>}
    </div>
  );
}

interface KeptCode {
  readonly source: Source;
  readonly baseId: string | null;
  readonly summary: string;
  /** Tag of the draft on the server that this text is to replace. */
  readonly draftTag: string | null;
}

/** Returns the tab that the address names, if there is such a file. */
function shownTab({ files }: Source): string {
  const wanted = query.value.get('file');
  if (wanted === MANIFEST || (wanted !== null && files[wanted] !== undefined)) return wanted;
  const paths = Object.keys(files).sort();
  return entryAmong(paths) ?? paths[0] ?? MANIFEST;
}

function unsavable(source: Source, changed: number): string | null {
  if (changed === 0) return t('nothingChanged');
  const manifest = parseJson(source.manifest);
  if ('error' in manifest) return t('manifestBroken', { error: manifest.error });
  if (Object.keys(source.files).length > MAX_FILES) return t('tooMany', { max: MAX_FILES });
  return bytesOf(source.files) > MAX_TOTAL_BYTES ? t('tooLarge', { max: MAX_TOTAL_BYTES >> 10 }) : null;
}

/** What can be done with files. A deleted one can be taken back. */
function filesEdit(editing: Editing, choose: (tab: string) => void) {
  return {
    onAdd: (path: string) => { editing.add(path); choose(path); },
    onRename: (from: string, to: string) => { editing.rename(from, to); choose(to); },
    onRemove: (path: string) => {
      const before = editing.source;
      editing.remove(path);
      toast(t('removed', { file: path }), { action: { label: t('undo'), run: () => editing.replace(before) } });
    },
  };
}

async function discard({ base, replace, restart }: Editing, first: Source, end: () => void): Promise<void> {
  if (!(await confirm({ title: t('discardTitle'), body: <p>{t('discardBody')}</p>, action: t('discard'), tone: 'bad' }))) return;
  end();
  if (base) restart(base);
  else replace(first);
}
