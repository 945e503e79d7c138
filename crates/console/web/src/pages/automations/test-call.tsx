// A call that the server sends to its own webhook.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useAction } from '#frame';
import { Button, CopyCall, Dialog, JsonEditor, Notice, ProblemView, parseJson } from '#ui';
import { t } from './messages';
import { Followed } from './run-now';
import type { Webhook } from './webhook';

const SAMPLE = '{\n  "title": "Hello"\n}';

export function TestCall({ ws, webhook: { automationId: id, mode }, onSent, close }: { ws: string; webhook: Webhook; onSent: () => void; close: () => void }) {
  const [text, setText] = useState(SAMPLE);
  const [runId, setRunId] = useState<string | null>(null);
  const parsed = parseJson(text);
  const body = 'value' in parsed ? { body: parsed.value as never } : {};
  const send = useAction(async () => {
    const tested = await api.post('/v1/automations/{id}/webhook/test', { path: { id }, body });
    setRunId(tested.runId);
    onSent();
  }, { shows: 'inline' });
  const actions = (
    <>
      <CopyCall call={{ method: 'POST', url: `/v1/automations/${id}/webhook/test`, body }} />
      <Button onClick={close}>{t('done')}</Button>
      <Button variant="primary" icon="play" busy={send.busy} unavailable={'error' in parsed ? parsed.error : null} onClick={() => void send.run()}>{t('sendTest')}</Button>
    </>
  );
  return (
    <Dialog title={t('sendTest')} size="wide" onClose={close} actions={actions}>
      <div class="automations-stack">
        <p class="field-hint">{mode === 'token' || mode === 'messenger' ? t('testUnproved') : t('testProved')}</p>
        <JsonEditor label={t('body')} value={text} onChange={setText} height="short" />
        {send.problem && <ProblemView problem={send.problem} />}
        {runId === null ? <Notice>{t('testIsReal')}</Notice> : <Followed key={runId} ws={ws} id={runId} />}
      </div>
    </Dialog>
  );
}
