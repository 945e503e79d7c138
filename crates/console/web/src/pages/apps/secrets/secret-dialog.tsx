// The form that gives a secret its value. What is stored is never shown.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Schemas } from '#api/types';
import { useAction } from '#frame';
import { Button, Checkbox, Dialog, ProblemView, TextArea, TextField } from '#ui';
import { t } from './messages';
import { secretPrecondition } from './precondition';

type Secret = Schemas['AppSecret'];

interface Props {
  readonly app: string;
  /** The secret that gets another value; none for a new one. */
  readonly secret: Secret | undefined;
  readonly close: (saved?: Secret) => void;
}

const NAME = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,39}$/;

export function SecretDialog({ app, secret, close }: Props) {
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const [hosts, setHosts] = useState((secret?.hosts ?? []).join(', '));
  const [clear, setClear] = useState(secret?.clear ?? false);
  const [isTried, setTried] = useState(false);
  const save = useAction(async () => {
    setTried(true);
    if (!NAME.test(name) || value === '') return;
    const body = { value, hosts: hosts.split(/[\s,]+/).filter((host) => host !== ''), clear };
    close(await api.put('/v1/apps/{id}/secrets/{name}', { path: { id: app, name }, body }, secret ? secretPrecondition(app, secret) : {}));
  }, { shows: 'inline' });
  const actions = (
    <>
      <Button onClick={() => close()}>{t('cancel')}</Button>
      <Button type="submit" form="app-secret" variant="primary" busy={save.busy}>{t('save')}</Button>
    </>
  );
  return (
    <Dialog title={secret ? t('valueOf', { name: secret.name }) : t('add')} actions={actions} onClose={() => close()}>
      <form id="app-secret" class="secrets-form" noValidate onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
        {!secret && <TextField label={t('name')} hint={t('nameHint')} value={name} onInput={setName} error={isTried && !NAME.test(name) ? t('notAName') : undefined} maxlength={40} autocomplete="off" spellcheck={false} autofocus />}
        <TextArea label={t('value')} hint={t('valueHint')} value={value} onInput={setValue} error={isTried && value === '' ? t('valueNeeded') : undefined} rows={3} spellcheck={false} />
        <TextField label={t('hosts')} hint={t('hostsHint')} placeholder="api.example.com" value={hosts} onInput={setHosts} autocomplete="off" spellcheck={false} />
        <Checkbox label={t('clearLabel')} hint={t('clearHint')} checked={clear} onChange={setClear} />
        {save.problem && <ProblemView problem={save.problem} />}
      </form>
    </Dialog>
  );
}
