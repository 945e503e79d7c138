// An editor of the manifest, with what can be in it beside it.

import { useState } from 'preact/hooks';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Button, JsonEditor, Select, TextField, type LineProblem } from '#ui';
import { parseManifest } from '../source';
import { t } from './messages';
import { withHost, withProject, withTrigger } from './manifest-parts';

interface ManifestEditorProps {
  readonly ws: string;
  readonly value: string;
  /** Without it, the manifest can only be read. */
  readonly onChange?: ((value: string) => void) | undefined;
  readonly original?: string | undefined;
  readonly problem?: LineProblem | null;
  readonly height?: 'normal' | 'tall';
}

export function ManifestEditor({ ws, value, onChange, original, problem, height = 'tall' }: ManifestEditorProps) {
  return (
    <div class="manifest">
      <JsonEditor label={t('manifestLabel')} value={value} onChange={onChange} original={original} problem={problem} height={height} />
      <aside class="manifest-help" aria-label={t('manifestHelp')}>
        {onChange && parseManifest(value) && <Insert ws={ws} value={value} onChange={onChange} />}
        <Reference />
      </aside>
    </div>
  );
}

interface InsertProps {
  readonly ws: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Insert(props: InsertProps) {
  return (
    <section class="manifest-insert">
      <h2>{t('insert')}</h2>
      <Host {...props} />
      <Project {...props} />
      <Trigger {...props} />
    </section>
  );
}

const HOST = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;
type Methods = 'GET' | 'GET,POST' | 'all';

function Host({ value, onChange }: InsertProps) {
  const [host, setHost] = useState('');
  const [methods, setMethods] = useState<Methods>('GET');
  // People paste whole addresses.
  const name = host.trim().toLowerCase().replace(/^https?:\/\//, '').replace(/[/:].*$/, '');
  const isBad = name !== '' && !HOST.test(name);
  const add = () => {
    onChange(withHost(value, name, methods === 'all' ? null : (methods.split(',') as Schemas['HttpMethod'][])));
    setHost('');
  };
  return (
    <div class="manifest-row">
      <TextField label={t('host')} value={host} onInput={setHost} placeholder="api.example.com" error={isBad ? t('hostBad') : null} spellcheck={false} autocomplete="off" />
      <Select label={t('methods')} value={methods} onChange={setMethods} options={[{ value: 'GET', label: 'GET' }, { value: 'GET,POST', label: 'GET, POST' }, { value: 'all', label: t('methodsAll') }]} />
      <Button icon="plus" label={t('addHost')} unavailable={name === '' || isBad ? t('hostFirst') : null} onClick={add} />
    </div>
  );
}

function Project({ ws, value, onChange }: InsertProps) {
  const projects = useResource('/v1/workspaces/{ws}/backend/projects', { path: { ws }, query: { limit: 200 } }, { on: ['project'] });
  const [id, setId] = useState('');
  const [access, setAccess] = useState<Schemas['DataAccess']>('read');
  const items = projects.data?.items ?? [];
  const chosen = items.find((project) => project.id === id) ?? items[0];
  if (chosen === undefined) return null;
  return (
    <div class="manifest-row">
      <Select label={t('project')} value={chosen.id} onChange={setId} options={items.map((project) => ({ value: project.id, label: project.name }))} />
      <Select label={t('projectAccess')} value={access} onChange={setAccess} options={[{ value: 'read', label: t('access_read') }, { value: 'write', label: t('access_write') }]} />
      <Button icon="plus" label={t('addProject')} onClick={() => onChange(withProject(value, chosen, access))} />
    </div>
  );
}

const TRIGGERS = ['webhook', 'schedule', 'form', 'manual', 'event'] as const;

function Trigger({ value, onChange }: InsertProps) {
  const declared = parseManifest(value)?.triggers ?? [];
  const missing = TRIGGERS.filter((type) => !declared.some((trigger) => trigger.type === type));
  const [type, setType] = useState<(typeof TRIGGERS)[number]>('webhook');
  const chosen = missing.includes(type) ? type : missing[0];
  if (chosen === undefined) return null;
  return (
    <div class="manifest-row">
      <Select label={t('trigger')} value={chosen} onChange={setType} options={missing.map((name) => ({ value: name, label: t(`trigger_${name}`) }))} />
      <Button icon="plus" label={t('addTrigger')} onClick={() => onChange(withTrigger(value, { type: chosen }))} />
    </div>
  );
}

const FIELDS = ['name', 'description', 'archetype', 'category', 'data', 'egress', 'connectors', 'secrets', 'ai', 'triggers', 'sharing', 'roi'] as const;
const PATHS: Readonly<Partial<Record<(typeof FIELDS)[number], string>>> = {
  data: 'permissions.data', egress: 'permissions.egress', connectors: 'permissions.connectors', secrets: 'permissions.secrets', ai: 'permissions.ai', sharing: 'sharing.default', roi: 'roi.manualMinutesPerRun',
};

function Reference() {
  return (
    <details class="manifest-reference">
      <summary>{t('fields')}</summary>
      <dl>{FIELDS.map((name) => <div key={name}><dt><code>{PATHS[name] ?? name}</code></dt><dd>{t(`field_${name}`)}</dd></div>)}</dl>
    </details>
  );
}
