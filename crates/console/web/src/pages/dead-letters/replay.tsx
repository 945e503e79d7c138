// Replaying a dead letter, with its input or another one.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Schemas } from '#api/types';
import { discardUnsaved, navigate, toast, useAction, useUnsaved } from '#frame';
import { Button, Choice, CopyCall, Diff, JsonEditor, Notice, Panel, ProblemView, Segments, parseJson } from '#ui';
import { t } from './messages';

const text = (value: unknown) => JSON.stringify(value, null, 2);

export function Replay({ ws, letter, back, done }: { ws: string; letter: Schemas['DeadLetter']; back: () => void; done: () => void }) {
  const { id, payload, hasPayload, version: ran } = letter;
  const original = hasPayload ? text(payload) : '{}';
  const [input, setInput] = useState<'original' | 'edited'>(hasPayload ? 'original' : 'edited');
  const [look, setLook] = useState<'edit' | 'compare'>('edit');
  const [edited, setEdited] = useState(original);
  const [version, setVersion] = useState<Schemas['WhichVersion']>('current');
  const isEdited = input === 'edited';
  const parsed = parseJson(edited);
  useUnsaved(isEdited && edited !== original, { form: 'replay', value: { input, edited, version }, restore: (kept) => { setInput(kept.input); setEdited(kept.edited); setVersion(kept.version); } });
  const body = { version, ...(isEdited && 'value' in parsed && { payload: parsed.value as never }) };
  const replay = useAction(async () => {
    const { runId, held } = await api.post('/v1/dead-letters/{id}/replay', { path: { id }, body });
    discardUnsaved();
    done();
    toast(held ? t('replayHeld') : t('replayed'));
    await navigate(`/w/${ws}/runs/${runId}`);
  }, { shows: 'inline' });
  const actions = (
    <>
      <CopyCall call={{ method: 'POST', url: `/v1/dead-letters/${id}/replay`, body }} />
      <Button onClick={back}>{t('back')}</Button>
      <Button variant="primary" icon="replay" busy={replay.busy} unavailable={isEdited && 'error' in parsed ? parsed.error : null} onClick={() => void replay.run()}>{t('startReplay')}</Button>
    </>
  );
  return (
    <Panel title={t('replayTitle')} size="wide" actions={actions}>
      <div class="letters-stack">
        <Choice
          label={t('input')} value={input} onChange={setInput}
          options={[...(hasPayload ? [{ value: 'original' as const, label: t('inputOriginal') }] : []), { value: 'edited' as const, label: t('inputEdited') }]}
        />
        {!hasPayload && <Notice tone="warn">{t('noInput')}</Notice>}
        {isEdited && hasPayload && <Segments label={t('inputEdited')} value={look} onChange={setLook} options={[{ value: 'edit', label: t('editInput') }, { value: 'compare', label: t('compareInput') }]} />}
        {isEdited && look === 'edit' && <JsonEditor label={t('input')} value={edited} onChange={setEdited} original={hasPayload ? original : undefined} />}
        {isEdited && look === 'compare' && <Diff original={original} changed={edited} language="json" />}
        {!isEdited && <JsonEditor label={t('input')} value={original} height="short" />}
        <Choice
          label={t('version')} value={version} onChange={setVersion}
          options={[
            { value: 'current', label: t('versionNow'), detail: t('versionNowAbout') },
            { value: 'original', label: ran?.number == null ? t('versionThen') : t('versionThenNumber', { number: ran.number }) },
          ]}
        />
        {replay.problem && <ProblemView problem={replay.problem} />}
      </div>
    </Panel>
  );
}
