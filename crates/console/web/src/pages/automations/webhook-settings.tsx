// What can be changed about a webhook while it is in use: whether it is on, its limit, its secret.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Schemas } from '#api/types';
import { isReadOnly, toast, useAction, useSwitch } from '#frame';
import { Button, Card, Copyable, Facts, ObjectMenu, Switch, TextField, Time, confirm, openDialog, revealSecret } from '#ui';
import { t } from './messages';
import { TestCall } from './test-call';
import type { Webhook } from './webhook';

const MAX_PER_MINUTE = 600;

interface Settings {
  readonly ws: string;
  readonly webhook: Webhook;
  readonly onPatch: (changed: Schemas['Webhook']) => void;
  readonly onChange: () => void;
}

export function WebhookSettings({ ws, webhook, onPatch, onChange }: Settings) {
  const { automationId: id, mode, hint, enabled, createdAt, updatedAt } = webhook;
  const hasSecret = hint !== null;
  const calls = useSwitch(enabled, async (isEnabled) => {
    onPatch(await api.patch('/v1/automations/{id}/webhook', { path: { id }, body: { enabled: isEnabled } }));
    toast(isEnabled ? t('webhookOn') : t('webhookOff'), { action: { label: t('undo'), run: () => calls.set(!isEnabled) } });
  });
  const rotate = useAction(async () => {
    if (!(await confirm({ title: t('rotateTitle'), body: t('rotateBody'), action: t('rotate'), tone: 'bad' }))) return;
    const { secret } = await api.post('/v1/automations/{id}/webhook/rotate', { path: { id } });
    if (secret !== null) await revealSecret({ title: t('secretTitle'), secret, children: <p>{t(`secretUse_${mode}` as 'secretUse_signed')}</p> });
    toast(t('rotated'));
    onChange();
  });
  const test = () => void openDialog<void>((close) => <TestCall ws={ws} webhook={webhook} onSent={onChange} close={() => close()} />);
  return (
    <Card title={t('address')} aside={<ObjectMenu url={`/v1/automations/${id}/webhook`} value={webhook} />}>
      <div class="card-body automations-stack">
        <div class="automations-address"><Copyable value={webhook.address} /></div>
        <Facts facts={[[t('proof'), t(`mode_${mode}`)], hasSecret ? [t('secret'), <code>{hint}</code>] : null, [t('hookCreated'), <Time at={createdAt} />], [t('changed'), <Time at={updatedAt} />]]} />
        <Switch label={t('acceptsCalls')} hint={enabled ? undefined : t('acceptsNone')} checked={calls.checked} disabled={calls.busy || isReadOnly.value} onChange={calls.set} />
        <Limit key={webhook.perMinute} webhook={webhook} onPatch={onPatch} />
        <div class="automations-row">
          <Button variant="primary" icon="play" onClick={test}>{t('sendTest')}</Button>
          {hasSecret && <Button icon="refresh" busy={rotate.busy} onClick={() => void rotate.run()}>{t('rotate')}</Button>}
        </div>
      </div>
    </Card>
  );
}

function Limit({ webhook: { automationId: id, perMinute }, onPatch }: Pick<Settings, 'webhook' | 'onPatch'>) {
  const [text, setText] = useState(String(perMinute));
  const value = Number(text);
  const isValid = text.trim() !== '' && Number.isInteger(value) && value >= 1 && value <= MAX_PER_MINUTE;
  const save = useAction(async () => {
    if (!isValid) return;
    onPatch(await api.patch('/v1/automations/{id}/webhook', { path: { id }, body: { perMinute: value } }));
    toast(t('savedNow'));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <form class="automations-limit" noValidate onSubmit={submit}>
      <TextField label={t('perMinute')} type="number" min={1} max={MAX_PER_MINUTE} value={text} onInput={setText} error={isValid ? null : t('between', { from: 1, to: MAX_PER_MINUTE })} />
      <Button type="submit" busy={save.busy} unavailable={value === perMinute ? t('nothingChanged') : null}>{t('save')}</Button>
    </form>
  );
}
