// Running a failed run again, with its input or another one.

import { useEffect, useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, discardUnsaved, navigate, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Choice, JsonEditor, Loaded, Panel, ProblemView, parseJson } from '#ui';
import { t } from './messages';

type Run = Schemas['Run'];
type Version = Schemas['WhichVersion'];

const text = (value: unknown) => JSON.stringify(value, null, 2);

export default function ReplayPanel({ params: { ws, id } }: RouteProps<'/w/:ws/runs/:id/replay'>) {
  const run = useResource('/v1/runs/{id}', { path: { id } }, { on: [`run:${id}`] });
  return run.data ? <Replay ws={ws} run={run.data} /> : <Panel title={t('replay')}><Loaded resource={run}>{() => null}</Loaded></Panel>;
}

/** What the run was given, if its dead letter still has it. A run itself does not show its input. */
function useOriginal(ws: string, run: Run): { readonly isKnown: boolean; readonly value: unknown } {
  const letters = useResource('/v1/workspaces/{ws}/dead-letters', { path: { ws }, query: { appId: run.appId, kind: 'run', limit: 200 } });
  const letter = letters.data?.items.find(({ runId, hasPayload }) => runId === run.id && hasPayload);
  const full = useResource('/v1/dead-letters/{id}', letter === undefined ? null : { path: { id: letter.id } });
  return { isKnown: full.data !== undefined, value: full.data?.payload };
}

function Replay({ ws, run }: { ws: string; run: Run }) {
  const original = useOriginal(ws, run);
  const [version, setVersion] = useState<Version>('current');
  const [input, setInput] = useState<'original' | 'other'>('original');
  const [edited, setEdited] = useState('{}');
  useEffect(() => { if (original.isKnown) setEdited(text(original.value)); }, [original.isKnown]);
  const parsed = parseJson(edited);
  const isOther = input === 'other';
  useUnsaved(isOther && edited !== (original.isKnown ? text(original.value) : '{}'));
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
      {isOther && <JsonEditor label={t('input')} value={edited} onChange={setEdited} original={original.isKnown ? text(original.value) : undefined} />}
      {!isOther && original.isKnown && <JsonEditor label={t('input')} value={text(original.value)} height="short" />}
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
