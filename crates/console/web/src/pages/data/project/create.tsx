// A new project, in the panel over the list.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import { discardUnsaved, hasRole, isReadOnly, navigate, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, CopyCall, Panel, ProblemView, TextArea, TextField } from '#ui';
import { t } from '../messages';

const MIN_NAME = 2;

export default function NewProject({ params: { ws } }: RouteProps<'/w/:ws/data/new'>) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const body = { name: name.trim(), ...(description.trim() === '' ? {} : { description: description.trim() }) };
  useUnsaved(name !== '' || description !== '', { form: 'project', value: { name, description }, restore: (kept) => { setName(kept.name); setDescription(kept.description); } });
  const create = useAction(async () => {
    const project = await api.post('/v1/workspaces/{ws}/backend/projects', { path: { ws }, body });
    discardUnsaved();
    invalidate(['project']);
    await navigate(`/w/${ws}/data/${project.id}`);
  }, { shows: 'inline' });
  const unavailable = isReadOnly.value ? t('viewing') : !hasRole('member') ? t('mayNotCreate') : body.name.length < MIN_NAME ? t('nameFirst') : null;
  return (
    <Panel title={t('newProject')} actions={<><CopyCall call={{ method: 'POST', url: `/v1/workspaces/${ws}/backend/projects`, body }} /><Button type="submit" form="data-new-project" variant="primary" busy={create.busy} unavailable={unavailable}>{t('createProject')}</Button></>}>
      <form id="data-new-project" class="data-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void create.run(); }}>
        <TextField label={t('name')} value={name} onInput={setName} required minlength={MIN_NAME} maxlength={60} autofocus autocomplete="off" />
        <TextArea label={t('description')} value={description} onInput={setDescription} maxlength={280} />
        <p class="muted">{t('newProjectNote')}</p>
        {create.problem && <ProblemView problem={create.problem} />}
      </form>
    </Panel>
  );
}
