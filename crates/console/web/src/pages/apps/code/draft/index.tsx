// Trying what is in the editor, before it is a version: a handler, its argument, and beside them what it did.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { navigate, toast, useAction } from '#frame';
import { Button, JsonEditor, ProblemView, Select, TextArea, TextField, parseJson } from '#ui';
import { missingRight, type App } from '../../app-page';
import { entryAmong, type Files } from '../../source';
import type { OwnDraft } from '../own-draft';
import type { Editing } from '../use-source';
import { t } from './messages';
import { Outcome, type DraftRun } from './outcome';

type Handler = 'scheduled' | 'fetch';

interface Call {
  readonly handler: Handler;
  readonly data: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The handler that the code has, as far as its text says. */
function firstHandler(files: Files): Handler {
  const entry = entryAmong(Object.keys(files));
  const main = entry === undefined ? undefined : files[entry];
  return main !== undefined && /\bfetch\s*[(:]\s*/.test(main) && !/\bscheduled\s*[(:]/.test(main) ? 'fetch' : 'scheduled';
}

function bodyOf({ handler, data, method, path, body }: Call) {
  if (handler === 'scheduled') return { handler, event: { data: JSON.parse(data) as unknown } };
  return { handler, request: { method, path, ...(body === '' ? {} : { body, headers: { 'content-type': 'application/json' } }) } };
}

function unavailableReason(app: App, call: Call, draft: OwnDraft): string | null {
  const refusal = missingRight(app, 'can_edit') ?? missingRight(app, 'can_run');
  if (refusal !== null) return refusal;
  if (app.currentVersionId === null) return t('noVersion');
  if (draft.isUndecided) return t('draftFirst');
  if (call.handler === 'fetch') return call.path.startsWith('/') ? null : t('pathFirst');
  const parsed = parseJson(call.data);
  return 'error' in parsed ? parsed.error : null;
}

interface DraftPanelProps {
  readonly ws: string;
  readonly app: App;
  readonly editing: Editing;
  readonly draft: OwnDraft;
  /** Input of the run that is being fixed; none to begin with an empty one. */
  readonly input?: unknown;
}

export function DraftPanel({ ws, app, editing, draft, input }: DraftPanelProps) {
  const [call, setCall] = useState<Call>(() => ({ handler: firstHandler(editing.source.files), data: input === undefined ? '{}' : JSON.stringify(input, null, 2), method: 'GET', path: '/', body: '' }));
  const [outcome, setOutcome] = useState<DraftRun | null>(null);
  const set = <K extends keyof Call>(name: K) => (value: Call[K]) => setCall((now) => ({ ...now, [name]: value }));
  const run = useAction(async () => {
    if (!(await draft.save())) return toast(t('draftFirst'), { tone: 'bad' });
    setOutcome(await api.post('/v1/apps/{id}/draft/invoke', { path: { id: app.id }, body: bodyOf(call) }));
  }, { shows: 'inline' });
  const plan = useAction(async (instruction: string) => {
    const { changeId } = await api.post('/v1/apps/{id}/changes', { path: { id: app.id }, body: { instruction } });
    // What is in the editor is not part of the plan, and is there when the person comes back.
    await navigate(`/w/${ws}/apps/${app.id}/changes/${changeId}`, { keepsUnsaved: true });
  });
  const unavailable = unavailableReason(app, call, draft);
  return (
    <section class="draft" aria-label={t('title')}>
      <form class="draft-call" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void run.run(); }}>
        <h2>{t('title')}</h2>
        <p class="muted">{t('lead')}</p>
        <Select label={t('handler')} value={call.handler} onChange={set('handler')} options={[{ value: 'scheduled', label: t('scheduled') }, { value: 'fetch', label: t('fetch') }]} />
        {call.handler === 'scheduled'
          ? <JsonEditor label={t('data')} value={call.data} onChange={set('data')} height="short" />
          : (
            <>
              <div class="new-pair">
                <Select label={t('method')} value={call.method} onChange={set('method')} options={METHODS.map((value) => ({ value, label: value }))} />
                <TextField label={t('path')} value={call.path} onInput={set('path')} maxlength={2_000} spellcheck={false} />
              </div>
              <TextArea label={t('body')} value={call.body} onInput={set('body')} rows={4} spellcheck={false} />
            </>
          )}
        <div class="draft-actions">
          <Button type="submit" variant="primary" busy={run.busy} unavailable={unavailable}>{t('run')}</Button>
          <KeptDraft app={app} draft={draft} />
        </div>
      </form>
      <div class="draft-outcome" aria-live="polite">
        {run.problem && <ProblemView problem={run.problem} />}
        {outcome ? <Outcome outcome={outcome} onPlan={(instruction) => void plan.run(instruction)} /> : !run.problem && <p class="muted">{t('nothingYet')}</p>}
      </div>
    </section>
  );
}

/** The draft that the server keeps of the person: what they tried last, perhaps on another machine. */
function KeptDraft({ app, draft: { take, remove } }: { app: App; draft: OwnDraft }) {
  return (
    <>
      <Button variant="plain" busy={take.busy} unavailable={missingRight(app, 'can_edit')} onClick={() => void take.run()}>{t('take')}</Button>
      <Button variant="plain" busy={remove.busy} unavailable={missingRight(app, 'can_edit')} onClick={() => void remove.run()}>{t('remove')}</Button>
    </>
  );
}
