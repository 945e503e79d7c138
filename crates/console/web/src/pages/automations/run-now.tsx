// Starting an automation by hand, and following what becomes of it.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import { closePanel, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { formatDuration } from '#i18n';
import { Button, Card, CopyCall, Facts, Json, JsonEditor, Loaded, Log, Notice, Panel, ProblemView, RunStatus, TextField, parseJson } from '#ui';
import { useAutomation, useRights, type Automation } from './automation-page';
import { t } from './messages';

export default function RunNow({ params: { ws, id } }: RouteProps<'/w/:ws/automations/:id/run'>) {
  const automation = useAutomation(id);
  if (!automation.data) return <Panel title={t('start')}><Loaded resource={automation}>{() => null}</Loaded></Panel>;
  return <Start ws={ws} automation={automation.data} />;
}

function Start({ ws, automation: { id, appId, name, maxConcurrency } }: { ws: string; automation: Automation }) {
  const { mayRun } = useRights(appId);
  const [input, setInput] = useState('{}');
  const [at, setAt] = useState('');
  useUnsaved(input !== '{}', { form: 'input', value: input, restore: setInput, isQuiet: true });
  const [started, setStarted] = useState<string | null>(null);
  const parsed = parseJson(input);
  const body = { ...('value' in parsed && { input: parsed.value as never }), ...(at !== '' && { runAt: new Date(at).toISOString() }) };
  const start = useAction(async () => {
    const { runId, held } = await api.post('/v1/automations/{id}/run', { path: { id }, body });
    setStarted(runId);
    toast(held === true ? t('startedHeld') : at === '' ? t('startedNow') : t('startedLater'));
  }, { shows: 'inline' });
  const unavailable = mayRun ? ('error' in parsed ? parsed.error : null) : t('mayNotRun');
  const actions = (
    <>
      <CopyCall call={{ method: 'POST', url: `/v1/automations/${id}/run`, body }} />
      <Button onClick={closePanel}>{t('back')}</Button>
      <Button variant="primary" icon="play" busy={start.busy} unavailable={unavailable} onClick={() => void start.run()}>{started === null ? t('start') : t('startAgain')}</Button>
    </>
  );
  return (
    <Panel title={t('runTitle', { name })} size="wide" actions={actions}>
      <div class="automations-stack">
        <div><p class="field-hint">{t('inputHint')}</p><JsonEditor label={t('input')} value={input} onChange={setInput} height="short" /></div>
        {maxConcurrency === null
          ? <TextField label={t('runAt')} hint={t('runAtHint')} type="datetime-local" value={at} onInput={setAt} />
          : <p class="field-hint">{t('runAtNot')}</p>}
        {start.problem && <ProblemView problem={start.problem} />}
        {started !== null && <Followed key={started} ws={ws} id={started} />}
      </div>
    </Panel>
  );
}

/** The run that was started, as it goes on. */
export function Followed({ ws, id }: { ws: string; id: string }) {
  const run = useResource('/v1/runs/{id}', { path: { id } }, { on: [`run:${id}`] });
  const trace = useResource('/v1/runs/{id}/trace', { path: { id } }, { on: [`run:${id}`] });
  const lines = trace.data?.lines ?? [];
  return (
    <Card title={t('result')} aside={<a class="link" href={`/w/${ws}/runs/${id}`}>{t('openRun')}</a>}>
      <Loaded resource={run} lines={2}>
        {({ status, durationMs, errorMessage, finishedAt, result }) => (
          <>
            <div class="card-body automations-stack" role="status">
              <Facts facts={[[t('status'), <RunStatus status={status} />], durationMs === null ? null : [t('took'), formatDuration(durationMs)]]} />
              {errorMessage !== null && <Notice tone="bad">{errorMessage}</Notice>}
              {result !== null && <Json value={result} label={t('result')} />}
            </div>
            {lines.length > 0 && <Log label={t('log')} lines={lines} isLive={finishedAt === null} />}
          </>
        )}
      </Loaded>
    </Card>
  );
}
