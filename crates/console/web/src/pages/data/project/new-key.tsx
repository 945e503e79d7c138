// A new key, in the panel over the keys. Its value is shown once.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, useAction, type RouteProps } from '#frame';
import { Button, Checkbox, Choice, CopyCall, Loaded, Panel, ProblemView, TextField, revealSecret } from '#ui';
import { t } from '../messages';
import { adminRefusal, useProject, type Project } from './frame';

type Scope = Schemas['KeyScope'];
const SCOPES: readonly Scope[] = ['rows:read', 'rows:write', 'schema:write'];

export default function NewKeyPanel({ params: { project: id } }: RouteProps<'/w/:ws/data/:project/-/keys/new'>) {
  const project = useProject(id);
  return project.data ? <NewKey project={project.data} /> : <Panel title={t('newKey')}><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

function NewKey({ project }: { project: Project }) {
  const [kind, setKind] = useState<Schemas['KeyKind']>('publishable');
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(['rows:read', 'rows:write']);
  const [tables, setTables] = useState<readonly string[] | null>(null);
  const isSecret = kind === 'secret';
  const body = { kind, name: name.trim(), ...(isSecret ? { scopes: [...scopes], tables: tables === null ? null : [...tables] } : {}) };
  const toggled = <T extends string>(list: readonly T[], item: T, isOn: boolean) => (isOn ? [...list, item] : list.filter((other) => other !== item));
  const create = useAction(async () => {
    const { key, secret } = await api.post('/v1/backend/projects/{projectId}/keys', { path: { projectId: project.id }, body });
    invalidate(['project_key', `project:${project.id}`]);
    await revealSecret({ title: t('keyCreated', { name: key.name }), secret, children: <p>{isSecret ? t('secretNote') : t('publishableNote')}</p> });
    closePanel();
  }, { shows: 'inline' });
  const incomplete = body.name === '' ? t('nameFirst') : isSecret && scopes.length === 0 ? t('scopeFirst') : isSecret && tables?.length === 0 ? t('tableFirst') : null;
  const unavailable = adminRefusal(project) ?? incomplete;
  return (
    <Panel title={t('newKey')} actions={<><CopyCall call={{ method: 'POST', url: `/v1/backend/projects/${project.id}/keys`, body }} /><Button type="submit" form="data-new-key" variant="primary" busy={create.busy} unavailable={unavailable}>{t('createKey')}</Button></>}>
      <form id="data-new-key" class="data-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void create.run(); }}>
        <TextField label={t('name')} hint={t('keyNameHint')} value={name} onInput={setName} required maxlength={60} autofocus autocomplete="off" />
        <Choice
          label={t('kind')} value={kind} onChange={setKind}
          options={[{ value: 'publishable', label: t('kind_publishable'), detail: t('publishableDetail') }, { value: 'secret', label: t('kind_secret'), detail: t('secretDetail') }]}
        />
        {isSecret && (
          <fieldset class="data-group">
            <legend>{t('scopes')}</legend>
            {SCOPES.map((scope) => <Checkbox key={scope} label={scope} hint={t(`scope_${scope.replace(':', '_') as 'rows_read'}`)} checked={scopes.includes(scope)} onChange={(isOn) => setScopes(toggled(scopes, scope, isOn))} />)}
          </fieldset>
        )}
        {isSecret && (
          <fieldset class="data-group">
            <legend>{t('tables')}</legend>
            <Checkbox label={t('allTables')} hint={t('allTablesHint')} checked={tables === null} onChange={(isAll) => setTables(isAll ? null : [])} />
            {tables !== null && project.tables.map((table) => <Checkbox key={table.name} label={table.name} checked={tables.includes(table.name)} onChange={(isOn) => setTables(toggled(tables, table.name, isOn))} />)}
          </fieldset>
        )}
        {create.problem && <ProblemView problem={create.problem} />}
      </form>
    </Panel>
  );
}
