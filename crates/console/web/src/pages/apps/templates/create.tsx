// Creating an app from a template: its name, where it keeps rows, its connections and settings.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useList } from '#api/list';
import { invalidate, useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, discardUnsaved, hasRole, isReadOnly, navigate, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Card, CodeFiles, Empty, Loaded, Notice, ProblemView, RequestMenu, Select, TextArea, TextField } from '#ui';
import { changedNumber } from '#ui/json-text';
import { t } from './messages';
import { useTemplates, type Template } from './use-templates';

type Setting = Schemas['TemplateSetting'];

export default function TemplatePage({ params: { ws, template: id } }: RouteProps<'/w/:ws/apps/templates/:template'>) {
  const templates = useTemplates();
  const found = templates.data?.find((template) => template.id === id);
  return (
    <Page title={found?.name ?? t('title')} lead={found?.description} crumbs={[{ label: t('apps'), href: `/w/${ws}/apps` }, { label: t('title'), href: `/w/${ws}/apps/templates` }]}>
      <Loaded resource={templates} lines={12}>
        {() => (found ? <Form key={id} ws={ws} template={found} /> : <Empty title={t('notFound')} action={<Button href={`/w/${ws}/apps/templates`}>{t('showAll')}</Button>} />)}
      </Loaded>
    </Page>
  );
}

/** Returns the value of a field, or `null` if it is not one of the setting's. */
function valueOf({ kind }: Setting, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  if (kind === 'number') return Number.isFinite(Number(trimmed)) && changedNumber(trimmed) === null ? Number(trimmed) : null;
  return kind === 'urls' ? trimmed.split(/\s+/) : trimmed;
}

const shown = (value: unknown) => (value == null ? '' : Array.isArray(value) ? value.join('\n') : String(value));

function useForm(template: Template) {
  const [name, setName] = useState(template.name);
  const [project, setProject] = useState<string | null>(null);
  const [connections, setConnections] = useState<Readonly<Record<string, string>>>({});
  const [settings, setSettings] = useState<Readonly<Record<string, string>>>(() => Object.fromEntries(template.settings.map((setting) => [setting.name, shown(setting.default)])));
  const values = template.settings.map((setting) => [setting, valueOf(setting, settings[setting.name] ?? '')] as const);
  const body = {
    name: name.trim(), templateId: template.id,
    ...(template.tables.length > 0 && project !== null ? { projectId: project } : {}),
    ...(template.connections.length > 0 ? { connections } : {}),
    ...(values.length > 0 ? { settings: Object.fromEntries(values.filter(([, value]) => value !== null).map(([setting, value]) => [setting.name, value])) } : {}),
  };
  const missing = values.find(([, value]) => value === null)?.[0] ?? null;
  const entered = { name, project, connections, settings };
  const [initial] = useState(entered);
  return {
    isDirty: JSON.stringify({ ...entered, project: null }) !== JSON.stringify({ ...initial, project: null }), entered,
    restore: (kept: typeof entered) => { setName(kept.name); setProject(kept.project); setConnections(kept.connections); setSettings(kept.settings); },
    name, setName, project, setProject, connections, settings, body, missing,
    setConnection: (of: string, id: string) => setConnections((now) => ({ ...now, [of]: id })),
    setSetting: (of: string, text: string) => setSettings((now) => ({ ...now, [of]: text })),
  };
}

type FormState = ReturnType<typeof useForm>;

function unavailableReason(template: Template, { name, project, connections, missing }: FormState): string | null {
  if (isReadOnly.value) return t('readOnly');
  if (!hasRole('builder')) return t('mayNot');
  if (name.trim().length < 2) return t('nameFirst');
  if (template.tables.length > 0 && project === null) return t('projectFirst');
  const connection = template.connections.find(({ name: of }) => connections[of] === undefined);
  if (connection) return t('missing', { what: connection.label });
  return missing === null ? null : t('missing', { what: missing.label });
}

function Form({ ws, template }: { ws: string; template: Template }) {
  const form = useForm(template);
  useUnsaved(form.isDirty, { form: 'template', value: form.entered, restore: form.restore });
  const create = useAction(async () => {
    const made = await api.post('/v1/workspaces/{ws}/apps', { path: { ws }, body: form.body });
    discardUnsaved();
    invalidate(['app', 'gate', 'automation', 'project']);
    toast(t('created', { name: made.name }), { detail: [...template.steps, ...made.needsConsole].join(' ') });
    await navigate(`/w/${ws}/apps/${made.id}`);
  }, { shows: 'inline' });
  const unavailable = unavailableReason(template, form);
  return (
    <form class="new-app" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void create.run(); }}>
      <section class="new-part">
        <TextField label={t('name')} value={form.name} onInput={form.setName} minlength={2} maxlength={60} required autocomplete="off" />
        {template.tables.length > 0 && <ProjectField ws={ws} template={template} form={form} />}
        {template.connections.map((connection) => <ConnectionField key={connection.name} ws={ws} connection={connection} form={form} />)}
        {template.settings.map((setting) => <SettingField key={setting.name} setting={setting} form={form} />)}
      </section>
      {template.secrets.length > 0 && <Notice>{template.secrets.map(({ name, label }) => <p key={name}>{t.rich('secretLater', { name: <code>{name}</code>, label })}</p>)}</Notice>}
      {template.steps.length > 0 && <Card title={t('afterwards')}><ol class="card-body changes-steps">{template.steps.map((step) => <li key={step}>{step}</li>)}</ol></Card>}
      {create.problem && <ProblemView problem={create.problem} />}
      <div class="new-actions">
        <Button type="submit" variant="primary" busy={create.busy} unavailable={unavailable}>{t('create')}</Button>
        <Button variant="plain" href={`/w/${ws}/apps/templates`}>{t('others')}</Button>
        <RequestMenu call={{ method: 'POST', url: `/v1/workspaces/${ws}/apps`, body: form.body }} />
      </div>
      <section class="new-part"><h2>{t('code')}</h2><CodeFiles files={template.files} /></section>
    </form>
  );
}

function ProjectField({ ws, template, form }: { ws: string; template: Template; form: FormState }) {
  const projects = useResource('/v1/workspaces/{ws}/backend/projects', { path: { ws }, query: { limit: 200 } }, { on: ['project'] });
  const items = (projects.data?.items ?? []).filter(({ canEdit }) => canEdit);
  const tables = template.tables.map(({ name }) => name).join(', ');
  if (projects.data && items.length === 0) return <Notice tone="warn"><p>{t.rich('noProject', { link: <a href={`/w/${ws}/data/new`}>{t('noProjectLink')}</a> })}</p></Notice>;
  const options = [{ value: '', label: t('choose') }, ...items.map(({ id, name }) => ({ value: id, label: name }))];
  return <Select label={t('project')} hint={t('projectHint', { tables })} value={form.project ?? ''} onChange={(id) => form.setProject(id === '' ? null : id)} options={options} />;
}

function ConnectionField({ ws, connection: { name, label, connectors }, form }: { ws: string; connection: Schemas['TemplateConnection']; form: FormState }) {
  const list = useList('/v1/workspaces/{ws}/connections', { path: { ws }, query: { limit: 200 } }, { on: ['connection'] });
  const fitting = list.items.filter(({ connectorId, status }) => connectors.includes(connectorId) && status === 'connected');
  const options = [{ value: '', label: t('choose') }, ...fitting.map(({ id, displayName }) => ({ value: id, label: displayName }))];
  return (
    <>
      {!hasRole('admin') && <Notice tone="warn"><p>{t('adminConnects')}</p></Notice>}
      <Select label={label} hint={t.rich('connectionHint', { connectors: connectors.join(', '), link: <a href={`/w/${ws}/connections/new`}>{t('connectLink')}</a> })} value={form.connections[name] ?? ''} onChange={(id) => form.setConnection(name, id)} options={options} />
    </>
  );
}

function SettingField({ setting, form }: { setting: Setting; form: FormState }) {
  const { name, label, kind, example } = setting;
  const value = form.settings[name] ?? '';
  const error = kind === 'number' && value.trim() !== '' && valueOf(setting, value) === null ? t('numberWrong') : null;
  const shared = { label, value, error, onInput: (text: string) => form.setSetting(name, text), placeholder: shown(example) };
  if (kind === 'urls') return <TextArea {...shared} hint={t('urlsHint')} rows={3} />;
  return <TextField {...shared} type={kind === 'number' ? 'number' : kind === 'email' ? 'email' : kind === 'url' ? 'url' : 'text'} />;
}
