// A new gate: a host that apps may reach.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, discardUnsaved, navigate, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Checkbox, CopyCall, Panel, ProblemView, TextField } from '#ui';
import { t } from './messages';
import { mayNotCreate, useGates } from './use-gates';

type Method = Schemas['Method'];

const METHODS: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export default function NewGate({ params: { ws } }: RouteProps<'/w/:ws/gates/new'>) {
  const list = useGates(ws);
  const [host, setHost] = useState('');
  const [name, setName] = useState('');
  const [methods, setMethods] = useState<readonly Method[]>(['GET']);
  const [isTried, setTried] = useState(false);
  useUnsaved(host !== '' || name !== '', { form: 'gate', value: { host, name, methods }, restore: (kept) => { setHost(kept.host); setName(kept.name); setMethods(kept.methods); } });
  const body = { host: host.trim().toLowerCase(), methods: [...methods], ...(name.trim() === '' ? {} : { name: name.trim() }) };
  const create = useAction(async () => {
    setTried(true);
    if (body.host === '' || methods.length === 0) return;
    const gate = await api.post('/v1/workspaces/{ws}/gates', { path: { ws }, body });
    discardUnsaved();
    invalidate(['gate']);
    list.refresh();
    toast(t('created', { host: gate.host }));
    await navigate(`/w/${ws}/gates/${gate.id}`);
  }, { shows: 'inline' });
  const { problem } = create;
  const isHostRefused = problem?.status === 400 && problem.message.startsWith('`host`');
  const hostError = isHostRefused || (isTried && body.host === '') ? t('notHost') : null;
  const set = (method: Method, isOn: boolean) => setMethods(METHODS.filter((one) => (one === method ? isOn : methods.includes(one))));
  const actions = (
    <>
      <CopyCall call={{ method: 'POST', url: `/v1/workspaces/${ws}/gates`, body }} />
      <Button onClick={closePanel}>{t('cancel')}</Button>
      <Button type="submit" form="gates-new" variant="primary" busy={create.busy} unavailable={mayNotCreate()}>{t('createAction')}</Button>
    </>
  );
  return (
    <Panel title={t('create')} actions={actions}>
      <form id="gates-new" class="gates-form" noValidate onSubmit={(event) => { event.preventDefault(); if (mayNotCreate() === null) void create.run(); }}>
        <TextField label={t('host')} hint={t('hostHint')} placeholder="api.example.com" value={host} onInput={setHost} error={hostError} maxlength={253} autocomplete="off" spellcheck={false} autofocus />
        <fieldset class="gates-methods">
          <legend>{t('methods')}</legend>
          {METHODS.map((method) => <Checkbox key={method} label={method} checked={methods.includes(method)} onChange={(isOn) => set(method, isOn)} />)}
          {isTried && methods.length === 0 && <p class="field-error" role="alert">{t('methodFirst')}</p>}
        </fieldset>
        <TextField label={t('name')} hint={t('nameHint')} value={name} onInput={setName} maxlength={60} autocomplete="off" />
        <p class="field-hint">{t('createNote')}</p>
        {problem && !isHostRefused && <ProblemView problem={problem} />}
      </form>
    </Panel>
  );
}
