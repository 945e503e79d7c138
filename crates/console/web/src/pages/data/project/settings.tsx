// The settings of a project's data API, and its deletion.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, urlOf, type CallOptions } from '#api/client';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { navigate, toast, useAction, useSeen, useUnsaved, type RouteProps } from '#frame';
import { Button, Card, Checkbox, CopyCall, Notice, ObjectMenu, ProblemView, TextArea, TextField, confirm } from '#ui';
import { t } from '../messages';
import { ProjectPage, adminRefusal, type Place, type Project } from './frame';
import { Identity } from './identity';

type Change = Schemas['ChangeProjectSettings'];

export default function Settings({ params: { ws, project } }: RouteProps<'/w/:ws/data/:project/-/settings'>) {
  return (
    <ProjectPage ws={ws} id={project} title={t('settings')} actions={(loaded) => <ObjectMenu url={`/v1/backend/projects/${project}`} value={loaded.settings} />}>
      {(loaded) => (
        <div class="data-settings">
          {adminRefusal(loaded) !== null && <Notice>{adminRefusal(loaded)}</Notice>}
          <Limits project={loaded} />
          <Origins project={loaded} />
          <PublicTables project={loaded} />
          <Identity project={loaded} />
          <Danger ws={ws} project={loaded} />
        </div>
      )}
    </ProjectPage>
  );
}

/** Sends a change of the settings, and shows what they are then. */
export async function changeSettings(project: Project, body: Change, options: CallOptions): Promise<Project> {
  const path = { projectId: project.id };
  const changed = await api.patch('/v1/backend/projects/{projectId}/settings', { path, body }, { changes: urlOf('/v1/backend/projects/{projectId}', { path }), ...options });
  invalidate([`project:${project.id}`]);
  toast(t('settingsSaved'));
  return changed;
}

interface FormProps<D> {
  readonly title: string;
  /** Tells the cards apart, each of which is saved by itself. */
  readonly form: string;
  /** What the person has entered. */
  readonly draft: D;
  readonly onDraft: (draft: D) => void;
  readonly project: Project;
  readonly isDirty: boolean;
  readonly invalid?: string | null;
  /** What the form is about, as it is saved. */
  readonly saved: unknown;
  /** What is sent. */
  readonly body: Change;
  /** The draft without an entry. */
  readonly empty: D;
  /** Saves what was entered; resolves to whether it did. */
  readonly save: (options: CallOptions) => Promise<boolean>;
  readonly children: ComponentChildren;
}

/** A card that is saved by itself. */
export function SettingsForm<D>({ title, form, project, draft, onDraft, empty, isDirty, invalid = null, saved, body, save, children }: FormProps<D>) {
  const seen = useSeen(saved, isDirty, project);
  const unsaved = useUnsaved(isDirty, { form, value: draft, restore: onDraft, seen });
  const saving = useAction(async () => {
    if (!(await seen.mayOverwrite(body, () => onDraft(empty))) || !(await save(seen.precondition()))) return;
    unsaved.discard();
    onDraft(empty);
  }, { shows: 'inline' });
  const refusal = adminRefusal(project);
  const unavailable = refusal ?? (isDirty ? invalid : t('nothingChanged'));
  return (
    <Card title={title}>
      <form class="data-form card-body" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void saving.run(); }}>
        {children}
        {seen.notice(saving.busy)}
        {saving.problem && <ProblemView problem={saving.problem} />}
        {refusal === null && <div class="data-actions-start"><Button type="submit" variant="primary" busy={saving.busy} unavailable={unavailable}>{t('save')}</Button><CopyCall call={{ method: 'PATCH', url: `/v1/backend/projects/${project.id}/settings`, body }} /></div>}
      </form>
    </Card>
  );
}

const RANGES = { rateLimitPerMin: [10, 100_000], ipRatePerMin: [10, 100_000], maxBodyKb: [1, 1_024] } as const;
type Limit = keyof typeof RANGES;
const LIMITS = Object.keys(RANGES) as Limit[];

function Limits({ project }: { project: Project }) {
  const now = project.settings;
  const [draft, setDraft] = useState<Partial<Record<Limit, string>>>({});
  const isReadOnly = adminRefusal(project) !== null;
  const changed = LIMITS.filter((name) => draft[name] !== undefined && draft[name] !== String(now[name]));
  const isValid = (name: Limit) => {
    const value = Number(draft[name] ?? now[name]);
    return Number.isInteger(value) && value >= RANGES[name][0] && value <= RANGES[name][1];
  };
  const error = (name: Limit) => (isValid(name) ? null : t('range', { from: RANGES[name][0], to: RANGES[name][1] }));
  const body = Object.fromEntries(changed.map((name) => [name, Number(draft[name])]));
  const save = async (options: CallOptions) => {
    await changeSettings(project, body, options);
    return true;
  };
  return (
    <SettingsForm title={t('limits')} form="limits" draft={draft} onDraft={setDraft} empty={{}} project={project} isDirty={changed.length > 0} invalid={LIMITS.map(error).find((text) => text !== null) ?? null} saved={Object.fromEntries(LIMITS.map((name) => [name, now[name]]))} body={body} save={save}>
      {LIMITS.map((name) => (
        <TextField key={name} label={t(`limit_${name}`)} hint={t(`limitHint_${name}`)} type="number" min={RANGES[name][0]} max={RANGES[name][1]} value={draft[name] ?? String(now[name])} onInput={(value) => setDraft({ ...draft, [name]: value })} error={error(name)} readonly={isReadOnly} />
      ))}
    </SettingsForm>
  );
}

const MAX_ORIGINS = 20;
const linesOf = (text: string) => text.split('\n').map((line) => line.trim()).filter((line) => line !== '');

function Origins({ project }: { project: Project }) {
  const now = project.settings.allowedOrigins;
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? now.join('\n');
  const origins = linesOf(text);
  const wrong = origins.find((origin) => !/^https?:\/\/[^/\s]+$/.test(origin));
  const error = wrong !== undefined ? t('originWrong', { origin: wrong }) : origins.length > MAX_ORIGINS ? t('originsMany', { count: MAX_ORIGINS }) : null;
  const body = { allowedOrigins: origins };
  const save = async (options: CallOptions) => {
    await changeSettings(project, body, options);
    return true;
  };
  return (
    <SettingsForm title={t('origins')} form="origins" draft={draft} onDraft={setDraft} empty={null} project={project} isDirty={origins.join() !== now.join()} invalid={error} saved={{ allowedOrigins: now }} body={body} save={save}>
      <TextArea label={t('originsLabel')} hint={t('originsHint')} value={text} onInput={setDraft} error={error} placeholder="https://shop.example.com" spellcheck={false} readonly={adminRefusal(project) !== null} />
    </SettingsForm>
  );
}

function PublicTables({ project }: { project: Project }) {
  const now = project.tables.filter(({ publicRead }) => publicRead).map(({ name }) => name);
  const [draft, setDraft] = useState<readonly string[] | null>(null);
  const chosen = draft ?? now;
  const opened = chosen.filter((name) => !now.includes(name));
  const body = { publicReadTables: [...chosen], confirmPublicRead: opened };
  const isDirty = [...chosen].sort().join() !== [...now].sort().join();
  const save = async (options: CallOptions) => {
    for (const name of opened) {
      if (!(await confirm({ title: t('publicTitle', { name }), body: t('publicBody'), action: t('makePublic'), tone: 'bad', typed: name }))) return false;
    }
    await changeSettings(project, body, options);
    return true;
  };
  if (project.tables.length === 0) return null;
  return (
    <SettingsForm title={t('publicTables')} form="public" draft={draft} onDraft={setDraft} empty={null} project={project} isDirty={isDirty} saved={{ publicReadTables: now }} body={body} save={save}>
      <p class="muted">{t('publicTablesLead')}</p>
      {project.tables.map(({ name }) => (
        <Checkbox key={name} label={name} checked={chosen.includes(name)} disabled={adminRefusal(project) !== null} onChange={(isOn) => setDraft(isOn ? [...chosen, name] : chosen.filter((other) => other !== name))} />
      ))}
    </SettingsForm>
  );
}

function Danger({ ws, project }: Place) {
  const remove = useAction(async () => {
    if (!(await confirm({ title: t('deleteProjectTitle', { name: project.name }), body: t('deleteProjectBody'), action: t('deleteProject'), tone: 'bad', typed: project.name }))) return;
    await api.delete('/v1/backend/projects/{projectId}', { path: { projectId: project.id }, body: { confirmName: project.name } });
    invalidate(['project']);
    toast(t('projectDeleted', { name: project.name }));
    await navigate(`/w/${ws}/data?deleted=true`);
  });
  return (
    <Card title={t('deletion')}>
      <div class="card-body data-danger">
        <p class="muted">{t('deletionLead')}</p>
        <span class="data-actions">
          <CopyCall call={{ method: 'DELETE', url: `/v1/backend/projects/${project.id}`, body: { confirmName: project.name } }} />
          <Button variant="danger" busy={remove.busy} unavailable={adminRefusal(project)} onClick={() => void remove.run()}>{t('deleteProject')}</Button>
        </span>
      </div>
    </Card>
  );
}
