// How to use the data API: examples with the project's address, a table and its columns filled in.

import { useState } from 'preact/hooks';
import { problemOf } from '#api/problem';
import { query, setQuery, useAction, type RouteProps } from '#frame';
import { Button, Card, Code, Copyable, Empty, ProblemView, Select, TextField, copyText } from '#ui';
import { toast } from '#frame/toasts';
import { saveFile } from '../grid/export';
import { t } from '../messages';
import { LANGUAGES, TASKS, exampleOf, type Language } from './examples';
import { ProjectPage, projectPath, type Place, type Project } from './frame';

export default function Api({ params: { ws, project } }: RouteProps<'/w/:ws/data/:project/-/api'>) {
  return (
    <ProjectPage ws={ws} id={project} title={t('api')} lead={t('apiLead')}>
      {(loaded) => (loaded.tables.length === 0
        ? <Empty title={t('noTables')} action={<Button variant="primary" href={`${projectPath(ws, project)}/-/new-table`}>{t('newTable')}</Button>}><p>{t('apiNeedsTable')}</p></Empty>
        : <Examples ws={ws} project={loaded} />)}
    </ProjectPage>
  );
}

function Examples({ ws, project }: Place) {
  const table = project.tables.find(({ name }) => name === query.value.get('table')) ?? project.tables[0];
  const wanted = query.value.get('language');
  const language = LANGUAGES.find(({ id }) => id === wanted)?.id ?? 'curl';
  if (!table) return null;
  return (
    <div class="data-sections">
      <div class="data-api-choice">
        <Select label={t('table')} value={table.name} options={project.tables.map(({ name }) => ({ value: name, label: name }))} onChange={(name) => setQuery({ table: name })} />
        <Select<Language> label={t('language')} value={language} options={LANGUAGES.map(({ id, label }) => ({ value: id, label }))} onChange={(id) => setQuery({ language: id })} />
      </div>
      <Card title={t('address')} aside={project.canAdmin && <Button size="small" icon="key" href={`${projectPath(ws, project.id)}/-/keys/new`}>{t('newKey')}</Button>}>
        <div class="card-body"><Copyable value={project.url} /><p class="muted data-note">{t('keyNote')}</p></div>
      </Card>
      {TASKS.map((task) => {
        const code = exampleOf(language, task, { url: project.url, table });
        return (
          <section key={task} class="data-example">
            <header><h2>{t(`task_${task}`)}</h2><Button size="small" variant="plain" icon="copy" onClick={() => void copyText(code).then((isCopied) => { if (isCopied) toast(t('copied')); })}>{t('copy')}</Button></header>
            <Code label={t(`task_${task}`)} value={code} language={language === 'javascript' || language === 'supabase' || language === 'postgrest' ? 'javascript' : 'text'} height="fill" />
          </section>
        );
      })}
      <Types project={project} />
    </div>
  );
}

/** The types of what a key may use. The key is sent once and kept nowhere. */
function Types({ project }: { project: Project }) {
  const [key, setKey] = useState('');
  const download = useAction(async () => {
    const response = await fetch(`/v1/projects/${project.id}/rest/_types.ts`, { headers: { apikey: key.trim() }, credentials: 'omit' });
    if (!response.ok) throw await problemOf(response);
    saveFile('database.ts', await response.blob());
  }, { shows: 'inline' });
  return (
    <Card title={t('types')}>
      <form class="card-body data-form" onSubmit={(event) => { event.preventDefault(); if (key.trim() !== '') void download.run(); }}>
        <p class="muted">{t('typesLead')}</p>
        <TextField label={t('typesKey')} hint={t('typesKeyHint')} value={key} onInput={setKey} autocomplete="off" spellcheck={false} placeholder="qk_pub_…" />
        {download.problem && <ProblemView problem={download.problem} />}
        <div class="data-actions-start">
          <Button type="submit" icon="down" busy={download.busy} unavailable={key.trim() === '' ? t('typesKeyFirst') : null}>{t('typesDownload')}</Button>
        </div>
        <Copyable value={`curl -H "apikey: $KEY" ${project.url}/_types.ts > database.ts`} />
      </form>
    </Card>
  );
}
