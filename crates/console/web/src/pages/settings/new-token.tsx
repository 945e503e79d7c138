// A new token. Its value is shown once.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, hasRole, useAction, type RouteProps } from '#frame';
import { Button, Choice, Panel, ProblemView, revealSecret, Select, TextField } from '#ui';
import { notWriting } from './frame';
import { t } from './messages';

type Scope = Schemas['Scope'];

/** Scopes of a token with this access: each contains those below it. */
const SCOPES: Readonly<Record<Scope, Scope[]>> = { read: ['read'], write: ['read', 'write'], admin: ['read', 'write', 'admin'] };
const DAYS = ['7', '30', '90', '365'] as const;

export default function NewToken({ params: { ws } }: RouteProps<'/w/:ws/settings/tokens/new'>) {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('read');
  const [days, setDays] = useState<(typeof DAYS)[number] | 'never'>('90');
  const create = useAction(async () => {
    const { secret, token } = await api.post('/v1/workspaces/{ws}/tokens', { path: { ws }, body: { name: name.trim(), scopes: SCOPES[scope], expiresInDays: days === 'never' ? null : Number(days) } });
    invalidate(['token']);
    await revealSecret({ title: t('tokenCreated', { name: token.name }), secret, children: <p>{t('tokenUse')}</p> });
    closePanel();
  }, { shows: 'inline' });
  const scopes: readonly Scope[] = hasRole('admin') ? ['read', 'write', 'admin'] : ['read', 'write'];
  return (
    <Panel title={t('createToken')} actions={<><Button onClick={closePanel}>{t('cancel')}</Button><Button type="submit" form="new-token" variant="primary" busy={create.busy} unavailable={notWriting()}>{t('createToken')}</Button></>}>
      <form id="new-token" class="settings-fields" onSubmit={(event) => { event.preventDefault(); void create.run(); }}>
        <TextField label={t('name')} hint={t('tokenNameHint')} value={name} onInput={setName} maxlength={60} required autocomplete="off" autofocus />
        <Choice label={t('scopes')} value={scope} onChange={setScope} options={scopes.map((value) => ({ value, label: t(`scope_${value}`), detail: t(`scopeHint_${value}`) }))} />
        <Select label={t('validFor')} value={days} onChange={setDays} options={[...DAYS.map((value) => ({ value, label: t('days', { count: Number(value) }) })), { value: 'never', label: t('noExpiry') }]} />
        {create.problem && <ProblemView problem={create.problem} />}
      </form>
    </Panel>
  );
}
