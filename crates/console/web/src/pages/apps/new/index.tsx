// A new app: what it is called, and what it begins with.

import { useMemo, useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, discardUnsaved, hasRole, isReadOnly, navigate, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Choice, Code, Notice, ProblemView, RequestMenu, Select, TextArea, TextField, parseJson, type LineProblem } from '#ui';
import { ManifestEditor } from '../code/manifest-editor';
import { MANIFEST, manifestText, parseManifest, type Manifest } from '../source';
import { ROWS_BINDING, starterFiles, STARTERS, type Starter } from '../starters';
import { ARCHETYPES, CATEGORIES, archetypeText } from '../status';
import { locate } from '../located';
import { FileDrop, filesProblem } from './file-drop';
import { TargetTable, useTargets, type Target } from './target-table';
import { t } from './messages';
import type { ReadFiles } from './read-files';

/** Buildings of the starters. */
const BUILDINGS: Readonly<Record<Starter, string>> = { scheduled: 'clocktower', rows: 'warehouse', fetch: 'kiosk', both: 'workshop', approval: 'townhall' };

type Begin = 'starter' | 'files' | 'nothing';

export default function NewAppPage({ params: { ws } }: RouteProps<'/w/:ws/apps/new'>) {
  const may = hasRole('builder') && !isReadOnly.value;
  return (
    <Page title={t('title')} lead={t('lead')} crumbs={[{ label: t('apps'), href: `/w/${ws}/apps` }]} actions={<><Button href={`/w/${ws}/imports/new`}>{t('fromWorkflow')}</Button><Button href={`/w/${ws}/apps/templates`}>{t('fromTemplate')}</Button></>}>
      {may ? <Form ws={ws} /> : <Notice tone="warn"><p>{t('mayNot')}</p></Notice>}
    </Page>
  );
}

/** Fields of the form, and the request that they make. */
function useForm(ws: string) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [category, setCategory] = useState<Schemas['Category']>('interface');
  const [begin, setBegin] = useState<Begin>('starter');
  const [starter, setStarter] = useState<Starter>('scheduled');
  const [chosenTarget, setTarget] = useState<Target | null>(null);
  const [own, setOwn] = useState<ReadFiles | null>(null);
  const [edited, setEdited] = useState<string | null>(null);
  /** Takes files, and from their manifest what the form does not say yet. */
  const take = (read: ReadFiles | null) => {
    setOwn(read);
    const given = read?.manifest == null ? null : parseManifest(read.manifest);
    if (given === null) return;
    setName((now) => now || String(given.name ?? ''));
    setDescription((now) => now || String(given.description ?? ''));
    if (given.archetype) setChosen(String(given.archetype));
    if (CATEGORIES.includes(given.category)) setCategory(given.category);
  };
  const targets = useTargets(ws, chosenTarget);
  const { target } = targets;
  // The city has to draw something; nobody has to think of it.
  const archetype = chosen ?? (begin === 'starter' ? BUILDINGS[starter] : 'workshop');
  const files = begin === 'starter' ? starterFiles(starter, target?.table) : (own?.files ?? {});
  /** Where the starter keeps rows; `null` for the others. */
  const keepsRowsIn = begin === 'starter' && starter === 'rows' ? target : null;
  const made: Manifest = useMemo(() => ({
    name: name.trim(), description: description.trim() || t('defaultDescription', { name: name.trim() }), archetype, category,
    permissions: {
      data: keepsRowsIn === null ? [] : [{ name: ROWS_BINDING, projectId: keepsRowsIn.project, access: 'write', tables: [keepsRowsIn.table] }],
      connectors: [], egress: [],
    },
    triggers: [{ type: 'manual' }, { type: 'webhook' }, { type: 'schedule' }],
  }), [name, description, archetype, category, keepsRowsIn?.project, keepsRowsIn?.table]);
  const text = edited ?? (begin === 'files' ? own?.manifest : keepsRowsIn && manifestText(made)) ?? null;
  const manifest = text === null ? null : parseManifest(text);
  const body = {
    name: name.trim(), archetype, category, ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(begin === 'nothing' ? {} : { files, ...(manifest === null ? {} : { manifest }) }),
  };
  const entered = { name, description, chosen, category, begin, starter, target: chosenTarget, own, edited };
  const restore = (kept: typeof entered) => {
    setName(kept.name);
    setDescription(kept.description);
    setChosen(kept.chosen);
    setCategory(kept.category);
    setBegin(kept.begin);
    setStarter(kept.starter);
    setTarget(kept.target);
    setOwn(kept.own);
    setEdited(kept.edited);
  };
  return { entered, restore, name, setName, description, setDescription, archetype, setArchetype: setChosen, category, setCategory, begin, setBegin, starter, setStarter, target, targets, setTarget, own, take, setEdited, files, made: manifestText(made), text, body };
}

function Form({ ws }: { ws: string }) {
  const form = useForm(ws);
  const isDirty = form.name !== '' || form.description !== '' || form.own !== null || form.text !== null;
  useUnsaved(isDirty, { form: 'app', value: form.entered, restore: form.restore });
  const create = useAction(async () => {
    const made = await api.post('/v1/workspaces/{ws}/apps', { path: { ws }, body: form.body });
    discardUnsaved();
    invalidate(['app', 'gate']);
    toast(t('created', { name: made.name }), made.needsConsole.length > 0 ? { detail: made.needsConsole.join(' ') } : {});
    await navigate(`/w/${ws}/apps/${made.id}`);
  }, { shows: 'inline' });
  const place = create.problem && locate(create.problem, { files: form.files, manifest: form.text ?? '' });
  return (
    <form class="new-app" onSubmit={(event) => { event.preventDefault(); if (unavailableReason(form) === null) void create.run(); }}>
      <About form={form} />
      <Begin ws={ws} form={form} problem={place && place.tab !== MANIFEST ? place : null} />
      <Looks form={form} />
      {form.begin !== 'nothing' && <ManifestPart ws={ws} form={form} problem={place && place.tab === MANIFEST ? place : null} />}
      {create.problem && <ProblemView problem={create.problem} />}
      <div class="new-actions">
        <Button type="submit" variant="primary" busy={create.busy} unavailable={unavailableReason(form)}>{form.begin === 'nothing' ? t('createDraft') : t('create')}</Button>
        <Button variant="plain" href={`/w/${ws}/apps`}>{t('cancel')}</Button>
        <RequestMenu call={{ method: 'POST', url: `/v1/workspaces/${ws}/apps`, body: form.body }} />
      </div>
    </form>
  );
}

type FormState = ReturnType<typeof useForm>;

function unavailableReason({ begin, starter, target, own, text, name }: FormState): string | null {
  if (name.trim().length < 2) return t('nameFirst');
  if (begin === 'starter' && starter === 'rows' && target === null) return t('tableFirst');
  if (begin === 'files') {
    if (own === null) return t('filesFirst');
    const problem = filesProblem(own.files);
    if (problem !== null) return problem;
  }
  if (begin === 'nothing' || text === null) return null;
  const parsed = parseJson(text);
  return 'error' in parsed ? parsed.error : null;
}

function About({ form }: { form: FormState }) {
  return (
    <section class="new-part">
      <TextField label={t('name')} value={form.name} onInput={form.setName} minlength={2} maxlength={60} required autofocus autocomplete="off" />
      <TextArea label={t('description')} hint={t('descriptionHint')} value={form.description} onInput={form.setDescription} maxlength={280} rows={2} />
    </section>
  );
}

/** How the app is drawn and filed, which is chosen by itself. */
function Looks({ form }: { form: FormState }) {
  const names: readonly string[] = ARCHETYPES.some((name) => name === form.archetype) ? ARCHETYPES : [...ARCHETYPES, form.archetype];
  const archetypes = names.map((value) => ({ value, label: archetypeText(value) }));
  return (
    <details class="new-part">
      <summary>{t('looks', { building: archetypeText(form.archetype), category: t(`category_${form.category}`) })}</summary>
      <div class="new-pair">
        <Select label={t('archetype')} hint={t('archetypeHint')} value={form.archetype} onChange={form.setArchetype} options={archetypes} />
        <Select label={t('category')} value={form.category} onChange={form.setCategory} options={CATEGORIES.map((value) => ({ value, label: t(`category_${value}`) }))} />
      </div>
    </details>
  );
}

function Begin({ ws, form, problem }: { ws: string; form: FormState; problem: (LineProblem & { readonly tab: string }) | null }) {
  return (
    <section class="new-part">
      <Choice
        label={t('begin')} value={form.begin} onChange={form.setBegin}
        options={[
          { value: 'starter', label: t('beginStarter'), detail: t('beginStarterDetail') },
          { value: 'files', label: t('beginFiles'), detail: t('beginFilesDetail') },
          { value: 'nothing', label: t('beginNothing'), detail: t('beginNothingDetail') },
        ]}
      />
      {form.begin === 'starter' && (
        <>
          <Select label={t('starter')} value={form.starter} onChange={form.setStarter} options={STARTERS.map((value) => ({ value, label: t(`starter_${value}`) }))} />
          {form.starter === 'rows' && <TargetTable ws={ws} targets={form.targets} onChange={form.setTarget} />}
          <Code label="main.js" language="javascript" value={form.files['main.js'] ?? ''} height="short" />
        </>
      )}
      {form.begin === 'files' && <FileDrop value={form.own} onChange={form.take} />}
      {form.begin === 'files' && problem && <Code label={problem.tab} language="javascript" value={form.files[problem.tab] ?? ''} problem={problem} height="short" />}
    </section>
  );
}

function ManifestPart({ ws, form, problem }: { ws: string; form: FormState; problem: LineProblem | null }) {
  if (form.text === null) {
    return (
      <section class="new-part">
        <h2>{t('manifest')}</h2>
        <p class="muted">{t('manifestNone')}</p>
        <div><Button size="small" icon="edit" onClick={() => form.setEdited(form.made)}>{t('manifestWrite')}</Button></div>
      </section>
    );
  }
  return (
    <section class="new-part">
      <h2>{t('manifest')}</h2>
      <ManifestEditor ws={ws} value={form.text} onChange={form.setEdited} problem={problem} height="normal" />
    </section>
  );
}
