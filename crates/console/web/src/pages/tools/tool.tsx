// One automation as a tool of agents: what its app may do, and what agents read about it.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate, useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, discardUnsaved, isReadOnly, toast, useAction, useSeen, useSwitch, useUnsaved, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Checkbox, CopyCall, Facts, JsonEditor, Loaded, Notice, Panel, ProblemView, Switch, TextArea, TextField, Time, confirm, parseJson } from '#ui';
import { Permissions } from '../apps/permissions';
import { t } from './messages';
import { ToolStatus } from './status';

type Review = Schemas['AgentToolReview'];
type Tool = Schemas['AgentTool'];

const NAME = /^[a-z][a-z0-9_]{1,47}$/;
const DESCRIPTION = { min: 8, max: 400 };

export default function ToolPanel({ params: { ws, id } }: RouteProps<'/w/:ws/tools/:id'>) {
  const review = useResource('/v1/automations/{id}/agent-tool', { path: { id } }, { on: [`automation:${id}`, 'version', 'app'] });
  const app = useResource('/v1/apps/{id}', review.data?.appId == null ? null : { path: { id: review.data.appId } });
  if (!review.data) return <Panel title={t('tool')}><Loaded resource={review}>{() => null}</Loaded></Panel>;
  if (!app.data) return <Panel title={t('tool')}><Loaded resource={app}>{() => null}</Loaded></Panel>;
  const mayEdit = app.data.rights.includes('can_edit') && !isReadOnly.value;
  return <Tool key={id} ws={ws} review={review.data} mayEdit={mayEdit} refresh={review.refresh} replace={review.set} />;
}

interface Draft {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly schema: string;
}

function draftOf({ published, suggested }: Review): Draft {
  const { name, title, description, inputSchema } = published ?? suggested;
  return { name, title, description, schema: JSON.stringify(inputSchema, null, 2) };
}

/** Says what is wrong with what was entered, by field. */
function errorsOf({ name, title, description, schema }: Draft) {
  const length = description.trim().length;
  const parsed = parseJson(schema);
  return {
    name: NAME.test(name) ? null : t('notName'),
    title: title.trim() === '' ? t('required') : null,
    description: length < DESCRIPTION.min || length > DESCRIPTION.max ? t('notDescription', DESCRIPTION) : null,
    schema: 'error' in parsed ? parsed.error : null,
  };
}

interface Props {
  readonly ws: string;
  readonly review: Review;
  readonly mayEdit: boolean;
  readonly refresh: () => void;
  readonly replace: (changed: Review) => void;
}

function Tool({ ws, review, mayEdit, refresh, replace }: Props) {
  const { automationId: id, published, hash, blocked, manifest } = review;
  const saved = draftOf(review);
  const [edited, setEdited] = useState<Draft | null>(null);
  const [readHash, setReadHash] = useState<string | null>(null);
  const [isTried, setTried] = useState(false);
  const draft = edited ?? saved;
  const isDirty = edited !== null && JSON.stringify(edited) !== JSON.stringify(saved);
  const seen = useSeen(saved, isDirty, review);
  useUnsaved(isDirty, { form: 'tool', value: edited, restore: setEdited, seen });
  const hasRead = hash !== null && readHash === hash;
  const errors = errorsOf(draft);
  const parsed = parseJson(draft.schema);
  const body = {
    name: draft.name, title: draft.title.trim(), description: draft.description.trim(), reviewedHash: hash ?? '',
    inputSchema: ('value' in parsed ? parsed.value : {}) as Schemas['ToolInputSchema'], enabled: published?.enabled ?? true,
  };
  const changed = () => {
    invalidate(['agent_tool']);
    refresh();
  };
  const patched = (tool: Tool) => {
    replace({ ...review, published: tool });
    invalidate(['agent_tool']);
  };
  const publish = useAction(async () => {
    setTried(true);
    if (Object.values(errors).some((error) => error !== null)) return;
    if (!(await seen.mayOverwrite(draft, () => setEdited(null)))) return;
    await api.put('/v1/automations/{id}/agent-tool', { path: { id }, body }, seen.precondition());
    setEdited(null);
    setReadHash(null);
    discardUnsaved();
    changed();
    toast(published === null ? t('publishedNow', { name: body.name }) : t('savedNow'));
  }, { shows: 'inline' });
  const set = (part: Partial<Draft>) => setEdited({ ...draft, ...part });
  const shown = (name: keyof Draft) => (isTried ? errors[name] : null);
  const unavailable = blocked !== null ? t(`blocked_${blocked}`) : !mayEdit ? t('mayNotEdit') : !hasRead ? t('readFirst') : null;
  const actions = mayEdit && (
    <>
      <CopyCall call={{ method: 'PUT', url: `/v1/automations/${id}/agent-tool`, body }} />
      {published && <Withdraw tool={published} onChange={changed} />}
      <Button type="submit" form="tools-form" variant="primary" busy={publish.busy} unavailable={unavailable}>{published === null ? t('publish') : t('save')}</Button>
    </>
  );
  return (
    <Panel title={published?.title ?? t('publishTitle', { name: review.automationName })} size="wide" actions={actions}>
      <div class="tools-stack">
        {published && <Published ws={ws} tool={published} mayEdit={mayEdit} onPatch={patched} />}
        {published?.state === 'needs_review' && <Notice tone="warn"><p>{t('needsReview')}</p></Notice>}
        {blocked !== null && <Notice tone={published === null ? 'warn' : 'info'}><p>{t(`blocked_${blocked}`)}</p></Notice>}
        <section>
          <h3>{t('appMay', { app: review.appName ?? '' })}</h3>
          {manifest === null ? <p class="muted">{t('blocked_not_deployed')}</p> : <div class="tools-uses"><Permissions ws={ws} manifest={manifest} /></div>}
          {mayEdit && hash !== null && <Checkbox label={t('haveRead')} hint={t('haveReadHint')} checked={hasRead} onChange={(isOn) => setReadHash(isOn ? hash : null)} />}
        </section>
        <form id="tools-form" class="tools-stack" noValidate onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void publish.run(); }}>
          {seen.notice(publish.busy)}
          <div class="tools-pair">
            <TextField label={t('toolName')} hint={t('toolNameHint', { name: `run_${draft.name}` })} value={draft.name} onInput={(name) => set({ name })} error={shown('name')} maxlength={48} autocomplete="off" spellcheck={false} readonly={!mayEdit} />
            <TextField label={t('toolTitle')} value={draft.title} onInput={(title) => set({ title })} error={shown('title')} maxlength={60} autocomplete="off" readonly={!mayEdit} />
          </div>
          <TextArea label={t('description')} hint={t('descriptionHint')} value={draft.description} onInput={(description) => set({ description })} error={shown('description')} maxlength={DESCRIPTION.max} rows={3} readonly={!mayEdit} />
          <div>
            <p class="field-label">{t('arguments')}</p>
            <p class="field-hint">{t('argumentsHint')}</p>
            <JsonEditor label={t('arguments')} value={draft.schema} onChange={mayEdit ? (schema) => set({ schema }) : undefined} height="short" />
          </div>
        </form>
        {publish.problem && <ProblemView problem={publish.problem} />}
      </div>
    </Panel>
  );
}

function Published({ ws, tool, mayEdit, onPatch }: { ws: string; tool: Tool; mayEdit: boolean; onPatch: (changed: Tool) => void }) {
  const { automationId: id, state, enabled, callsWeek, lastCalledAt, reviewedAt, reviewedByName } = tool;
  const calls = useSwitch(enabled, async (isOn) => {
    onPatch(await api.patch('/v1/automations/{id}/agent-tool', { path: { id }, body: { enabled: isOn } }));
    toast(isOn ? t('onNow') : t('offNow'));
  });
  return (
    <section class="tools-stack">
      <Facts
        facts={[
          [t('state'), <ToolStatus state={state} />],
          [t('automation'), <a class="link" href={`/w/${ws}/automations/${id}`}>{tool.automationName}</a>],
          [t('callsWeek'), formatNumber(callsWeek)],
          [t('lastCalled'), lastCalledAt === null ? t('neverCalled') : <Time at={lastCalledAt} />],
          [t('reviewed'), <>{reviewedByName ?? '–'}, <Time at={reviewedAt} /></>],
        ]}
      />
      <Switch label={t('agentsMay')} checked={calls.checked} disabled={calls.busy || !mayEdit} onChange={calls.set} />
    </section>
  );
}

function Withdraw({ tool: { automationId: id, title, name }, onChange }: { tool: Tool; onChange: () => void }) {
  const withdraw = useAction(async () => {
    if (!(await confirm({ title: t('withdrawTitle', { name: title }), body: t('withdrawBody'), action: t('withdraw'), tone: 'bad' }))) return;
    await api.delete('/v1/automations/{id}/agent-tool', { path: { id } });
    discardUnsaved();
    onChange();
    toast(t('withdrawn', { name }));
    closePanel();
  });
  return <Button variant="danger" busy={withdraw.busy} onClick={() => void withdraw.run()}>{t('withdraw')}</Button>;
}
