// Running a failed run again, with its input or another one.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, discardUnsaved, navigate, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Choice, JsonEditor, Loaded, Panel, ProblemView, parseJson } from '#ui';
import { t } from './messages';
import { useOriginal } from './original';

type Run = Schemas['Run'];
type Version = Schemas['WhichVersion'];

const text = (value: unknown) => JSON.stringify(value, null, 2);

export default function ReplayPanel({ params: { ws, id } }: RouteProps<'/w/:ws/runs/:id/replay'>) {
  const run = useResource('/v1/runs/{id}', { path: { id } }, { on: [`run:${id}`] });
  return run.data ? <Replay ws={ws} run={run.data} /> : <Panel title={t('replay')}><Loaded resource={run}>{() => null}</Loaded></Panel>;
}

function Replay({ ws, run }: { ws: string; run: Run }) {
  const original = useOriginal(ws, run);
  const [version, setVersion] = useState<Version>('current');
  const [input, setInput] = useState<'original' | 'other'>('original');
  // What the person has written. Until then the original is shown, which is read later than the run.
  const [written, setWritten] = useState<string | null>(null);
  const first = original.isKnown ? text(original.value) : '{}';
  const edited = written ?? first;
  const parsed = parseJson(edited);
  const isOther = input === 'other';
  useUnsaved(isOther && edited !== first, { form: 'replay', value: { version, input, edited: written }, restore: (kept) => { setVersion(kept.version); setInput(kept.input); setWritten(kept.edited); } });
  const replay = useAction(async () => {
    const body = isOther && 'value' in parsed ? { version, input: parsed.value as never } : { version };
    const { runId } = await api.post('/v1/runs/{id}/replay', { path: { id: run.id }, body });
    discardUnsaved();
    toast(t('replayed'));
    await navigate(`/w/${ws}/runs/${runId}`);
  }, { shows: 'inline' });
  const actions = (
    <>
      <Button onClick={closePanel}>{t('back')}</Button>
      <Button variant="primary" icon="replay" busy={replay.busy} unavailable={isOther && 'error' in parsed ? parsed.error : null} onClick={() => void replay.run()}>{t('replayNow')}</Button>
    </>
  );
  return (
    <Panel title={t('replayTitle', { app: run.appName })} size="wide" actions={actions}>
      <Choice
        label={t('input')} value={input} onChange={setInput}
        options={[{ value: 'original', label: t('inputOriginal'), detail: original.isKnown ? undefined : t('inputHidden') }, { value: 'other', label: t('inputOther') }]}
      />
      {isOther && <JsonEditor label={t('input')} value={edited} onChange={setWritten} original={original.isKnown ? first : undefined} />}
      {!isOther && original.isKnown && <JsonEditor label={t('input')} value={first} height="short" />}
      <Choice
        label={t('version')} value={version} onChange={setVersion}
        options={[
          { value: 'current', label: t('versionNow') },
          { value: 'original', label: run.version?.number == null ? t('versionThen') : t('versionThenNumber', { number: run.version.number }) },
        ]}
      />
      {replay.problem && <ProblemView problem={replay.problem} />}
    </Panel>
  );
}
