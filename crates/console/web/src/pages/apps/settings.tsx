// The settings of an app: its name, whether it runs, and its end.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import { discardUnsaved, navigate, toast, useAction, useSeen, useSwitch, useUnsaved, type RouteProps } from '#frame';
import { Button, Card, Notice, ProblemView, RequestMenu, Switch, TextArea, TextField, confirm } from '#ui';
import { AppPage, missingRight, useApp, type App } from './app-page';
import { t } from './messages';

export default function SettingsPage({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id/settings'>) {
  return <AppPage ws={ws} id={id} part="settings">{(app) => <Settings ws={ws} app={app} />}</AppPage>;
}

function Settings({ ws, app }: { ws: string; app: App }) {
  const refusal = missingRight(app, 'can_edit');
  if (refusal !== null) return <Notice><p>{refusal}</p></Notice>;
  return (
    <div class="app-settings">
      <Names app={app} />
      <Pause app={app} />
      <Delete ws={ws} app={app} />
    </div>
  );
}

function Names({ app }: { app: App }) {
  const resource = useApp(app.id);
  const [draft, setDraft] = useState<Partial<Pick<App, 'name' | 'description'>>>({});
  const { name, description } = { ...app, ...draft };
  const body = {
    ...(name.trim() === app.name ? {} : { name: name.trim() }),
    ...(description.trim() === app.description ? {} : { description: description.trim() }),
  };
  const isDirty = Object.keys(body).length > 0;
  const seen = useSeen({ name: app.name, description: app.description }, isDirty, app);
  useUnsaved(isDirty, { form: 'names', value: draft, restore: setDraft, seen });
  const reset = () => setDraft({});
  const save = useAction(async () => {
    if (!(await seen.mayOverwrite(body, reset))) return;
    resource.set(await api.patch('/v1/apps/{id}', { path: { id: app.id }, body }, seen.precondition()));
    reset();
    discardUnsaved();
    toast(t('settingsSaved'));
  }, { shows: 'inline' });
  const unavailable = !isDirty ? t('nothingChanged') : name.trim().length < 2 ? t('nameShort') : null;
  return (
    <Card title={t('nameAndDescription')}>
      <form class="card-body app-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void save.run(); }}>
        <TextField label={t('name')} hint={t('nameHint')} value={name} onInput={(value) => setDraft({ ...draft, name: value })} minlength={2} maxlength={60} required autocomplete="off" />
        <TextArea label={t('description')} value={description} onInput={(value) => setDraft({ ...draft, description: value })} maxlength={280} rows={3} />
        {seen.notice(save.busy)}
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="app-form-actions">
          <Button type="submit" variant="primary" busy={save.busy} unavailable={unavailable}>{t('save')}</Button>
          <RequestMenu call={{ method: 'PATCH', url: `/v1/apps/${app.id}`, body }} />
        </div>
      </form>
    </Card>
  );
}

function Pause({ app }: { app: App }) {
  const resource = useApp(app.id);
  const pause = useSwitch(app.paused, async (paused) => {
    resource.set(await api.patch('/v1/apps/{id}', { path: { id: app.id }, body: { paused } }));
    toast(paused ? t('paused') : t('resumed'), { action: { label: t('undo'), run: () => pause.set(!paused) } });
  });
  return (
    <Card title={t('running')}>
      <div class="card-body"><Switch label={t('pausedLabel')} hint={t('pausedHint')} checked={pause.checked} disabled={pause.busy} onChange={pause.set} /></div>
    </Card>
  );
}

function Delete({ ws, app }: { ws: string; app: App }) {
  const remove = useAction(async () => {
    if (!(await confirm({ title: t('deleteTitle', { name: app.name }), body: <p>{t('deleteBody')}</p>, action: t('delete'), tone: 'bad', typed: app.name }))) return;
    await api.delete('/v1/apps/{id}', { path: { id: app.id } });
    discardUnsaved();
    invalidate(['app']);
    toast(t('deleted', { name: app.name }));
    await navigate(`/w/${ws}/apps`, { replace: true });
  });
  return (
    <Card title={t('deleteHead')}>
      <div class="card-body app-form">
        <p class="muted">{t('deleteBody')}</p>
        <div class="app-form-actions"><Button variant="danger" icon="trash" busy={remove.busy} onClick={() => void remove.run()}>{t('delete')}</Button><RequestMenu call={{ method: 'DELETE', url: `/v1/apps/${app.id}` }} /></div>
      </div>
    </Card>
  );
}
