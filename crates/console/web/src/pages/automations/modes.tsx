// How callers of a webhook prove themselves.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Schemas } from '#api/types';
import { toast, useAction } from '#frame';
import { Button, Card, Choice, confirm, revealSecret } from '#ui';
import type { Automation } from './automation-page';
import { t } from './messages';
import type { Webhook } from './webhook';

type Mode = Schemas['ProofMode'];

const MODES: readonly Mode[] = ['signed', 'code_host', 'token', 'messenger', 'form', 'none'];
const WITHOUT_SECRET: readonly Mode[] = ['form', 'none'];

/** Asks before a mode takes effect that senders notice, or that lets anybody in. */
async function mayChange(from: Mode | null, to: Mode): Promise<boolean> {
  if (from !== null) {
    const loses = WITHOUT_SECRET.includes(to) ? t('modeLosesSecret') : t('modeNewSecret');
    return confirm({ title: t('modeTitle', { mode: t(`mode_${to}`) }), body: <><p>{loses}</p><p>{t('modeBody')}</p></>, action: t('changeMode'), tone: 'bad' });
  }
  if (to === 'none') return confirm({ title: t('noProofTitle'), body: t('noProofBody'), action: t('setUp'), tone: 'bad' });
  return true;
}

export function Modes({ automation: { id, trigger }, webhook, onChange }: { automation: Automation; webhook: Webhook | null; onChange: () => void }) {
  const isForm = trigger.type === 'form';
  const current = webhook?.mode ?? null;
  const [mode, setMode] = useState<Mode>(current ?? (isForm ? 'form' : 'signed'));
  const modes = isForm ? MODES.filter((value) => value === 'form') : MODES;
  const configure = useAction(async () => {
    if (!(await mayChange(current, mode))) return;
    const { secret } = await api.put('/v1/automations/{id}/webhook', { path: { id }, body: { mode, ...((current !== null || mode === 'none') && { confirm: true }) } });
    if (secret !== null) await revealSecret({ title: t('secretTitle'), secret, children: <p>{t(`secretUse_${mode}` as 'secretUse_signed')}</p> });
    toast(current === null ? t('webhookReady') : t('modeChanged'));
    onChange();
  });
  if (isForm && webhook !== null) return null;
  return (
    <Card title={current === null ? t('setUpTitle') : t('modes')}>
      <div class="card-body automations-stack automations-modes">
        <Choice
          label={t('modeQuestion')} value={mode} onChange={setMode}
          options={modes.map((value) => ({ value, label: t(`mode_${value}`), detail: t(`modeAbout_${value}`) }))}
        />
        <div class="automations-row">
          <Button variant={current === null ? 'primary' : 'quiet'} busy={configure.busy} unavailable={mode === current ? t('modeIsCurrent') : null} onClick={() => void configure.run()}>{current === null ? t('setUp') : t('changeMode')}</Button>
        </div>
      </div>
    </Card>
  );
}
