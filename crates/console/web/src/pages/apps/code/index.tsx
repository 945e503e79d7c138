// The code of an app: files and manifest, edited and saved as a new version.

import { useEffect, useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Problem } from '#api/problem';
import { invalidate, useResource } from '#api/resource';
import { discardUnsaved, query, setQuery, toast, useAction, useCommands, useUnsaved, type RouteProps } from '#frame';
import { Button, Code, Loaded, Notice, ProblemView, confirm, languageOf, parseJson } from '#ui';
import { AppPage, missingRight, type App } from '../app-page';
import { locate, type Located } from '../located';
import { MANIFEST, MAX_FILES, MAX_TOTAL_BYTES, bytesOf, entryAmong, manifestText, type Source } from '../source';
import { starterFiles } from '../starters';
import { DraftPanel } from './draft';
import { FileTabs } from './file-tabs';
import { useInsertion } from './insertion';
import { ManifestEditor } from './manifest-editor';
import { t } from './messages';
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
  const [isTrying, setTrying] = useState(false);
  const [failure, setFailure] = useState<{ readonly problem: Problem; readonly place: Located | null } | null>(null);
  const { source, changes } = editing;
  const refusal = missingRight(app, 'can_edit');
  const isDirty = editing.isTouched && refusal === null;
  useUnsaved(isDirty);
  const inserted = useInsertion(app, editing, setSummary);
  const tab = shownTab(source);
  const choose = (name: string) => setQuery({ file: name });
  const publish = useAction(async () => {
    setFailure(null);
    const saved = await save({ appId: app.id, editing, summary });
    if (saved === undefined) return;
    if ('made' in saved) {
      const version = await api.get('/v1/apps/{id}/versions/{versionId}', { path: { id: app.id, versionId: saved.made.id } });
      discardUnsaved();
      invalidate(['app', `app:${app.id}`, 'gate']);
      setSummary('');
      editing.restart(version);
      toast(t('published', { number: version.number }), saved.made.needsConsole.length > 0 ? { detail: saved.made.needsConsole.join(' ') } : {});
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
  const place = failure?.place ?? null;
  const problem = place?.tab === tab ? place : null;
  return (
    <div class="editor">
      {refusal && <Notice><p>{refusal}</p></Notice>}
      {inserted}
      {editing.base && isDirty && current && current.id !== editing.base.id && <Stale ws={ws} app={app} editing={editing} current={current} />}
      {failure && (place ? <Notice tone="bad"><p>{t('refusedAt', { file: place.tab, line: place.line })} {place.message}</p></Notice> : <ProblemView problem={failure.problem} />)}
      <div class="editor-head">
        <FileTabs
          paths={Object.keys(source.files).sort()} shown={tab} changed={new Set(changes.map(({ path }) => path))} faulty={place?.tab ?? null} onChoose={choose}
          edit={refusal === null ? filesEdit(editing, choose) : undefined}
        />
        <div class="editor-actions">
          {isDirty && <span class="muted" role="status">{t('unsaved', { count: changes.length })}</span>}
          {isDirty && <Button onClick={() => void discard(editing, firstSource(app))}>{t('discard')}</Button>}
          <Button unavailable={refusal} onClick={() => setTrying(!isTrying)}>{isTrying ? t('stopTrying') : t('tryIt')}</Button>
          <Button variant="primary" command="apps.save" unavailable={unavailable} onClick={() => void publish.run()}>{t('save')}</Button>
        </div>
      </div>
      {tab === MANIFEST
        ? <ManifestEditor ws={ws} value={source.manifest} onChange={refusal === null ? setText : undefined} problem={problem} />
        : <Code key={tab} label={tab} language={languageOf(tab)} value={source.files[tab] ?? ''} onChange={refusal === null ? setText : undefined} problem={problem} height="tall" />}
      {isTrying && <DraftPanel ws={ws} app={app} editing={editing} />}
      {editing.base && <p class="muted editor-base">{t('basedOn', { number: editing.base.number })}</p>}
    </div>
  );
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

async function discard({ base, replace, restart }: Editing, first: Source): Promise<void> {
  if (!(await confirm({ title: t('discardTitle'), body: <p>{t('discardBody')}</p>, action: t('discard'), tone: 'bad' }))) return;
  if (base) restart(base);
  else replace(first);
}
