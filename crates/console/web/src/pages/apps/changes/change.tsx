// A planned change: what it does, who may approve it, and what became of it.

import { api } from '#api/client';
import { invalidate, useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { toast, useAction, type RouteProps } from '#frame';
import { Badge, Button, Card, Copyable, Json, Loaded, Notice, Time, type Tone } from '#ui';
import { AppPage, missingRight, type App } from '../app-page';
import { BlockedRuns } from './blocked-runs';
import { t } from './messages';

type Change = Schemas['Change'];

const TONES: Readonly<Record<Change['state'], Tone>> = { planned: 'info', building: 'info', live: 'ok', failed: 'bad', expired: 'neutral' };

export default function ChangePage({ params: { ws, id, change } }: RouteProps<'/w/:ws/apps/:id/changes/:change'>) {
  const planned = useResource('/v1/changes/{changeId}', { path: { changeId: change } });
  return (
    <AppPage ws={ws} id={id} part="changes">
      {(app) => <Loaded resource={planned} lines={10}>{(data) => <Planned ws={ws} app={app} change={data} planned={planned} />}</Loaded>}
    </AppPage>
  );
}

function Planned({ ws, app, change, planned }: { ws: string; app: App; change: Change; planned: Resource<Change> }) {
  const { plan, state } = change;
  const at = `/w/${ws}/apps/${app.id}`;
  return (
    <div class="changes">
      <header class="changes-head">
        <h2>{plan.summary}</h2>
        <p class="muted">
          <Badge tone={TONES[state]}>{t(`state_${state}`)}</Badge>
          {state === 'planned' && <span>{t.rich('expires', { when: <Time at={plan.expiresAt} as="moment" /> })}</span>}
          <Copyable value={change.changeId} />
        </p>
        <blockquote class="changes-instruction">{plan.instruction}</blockquote>
      </header>
      {change.message && <Notice tone="bad"><p>{change.message}</p></Notice>}
      {plan.notes.length > 0 && <Notice tone="warn">{plan.notes.map((note) => <p key={note}>{note}</p>)}</Notice>}
      {state === 'live' && <BlockedRuns ws={ws} app={app} change={change} />}
      <Differences plan={plan} />
      {plan.steps.length > 0 && <Card title={t('steps')}><ol class="card-body changes-steps">{plan.steps.map((step) => <li key={step}>{step}</li>)}</ol></Card>}
      {plan.needsConsole.length > 0 && <Card title={t('needsConsole')}><ul class="card-body changes-sentences">{plan.needsConsole.map((reason) => <li key={reason}>{reason}</li>)}</ul></Card>}
      {plan.adminApproval.required && plan.adminApproval.connectors.length > 0 && <Notice tone="warn"><p>{t('adminFirst')}</p></Notice>}
      <Actions at={at} app={app} change={change} planned={planned} />
      <details><summary>{t('manifest')}</summary><Json value={plan.manifest} label={t('manifest')} /></details>
    </div>
  );
}

function unapprovable(app: App, { plan }: Change): string | null {
  const isEmpty = plan.steps.length === 0;
  return missingRight(app, 'can_edit') ?? (isEmpty ? t('nothing') : null);
}

function Actions({ at, app, change, planned }: { at: string; app: App; change: Change; planned: Resource<Change> }) {
  const { plan, state } = change;
  const approve = useAction(async () => {
    try {
      const approved = await api.post('/v1/changes/{changeId}/approve', { path: { changeId: change.changeId }, body: { manifest: plan.manifest } });
      if (approved.state === 'live') toast(t('isLive'));
    } finally {
      invalidate(['app', `app:${app.id}`, 'automation', 'gate']);
      planned.refresh();
    }
  });
  const again = <Button variant={state === 'planned' ? 'plain' : 'primary'} href={`${at}/changes`}>{t('another')}</Button>;
  if (state !== 'planned') return <div class="changes-actions">{state === 'live' && <Button href={`${at}/versions`}>{t('seeVersions')}</Button>}{again}</div>;
  return (
    <div class="changes-actions">
      <Button variant="primary" busy={approve.busy} unavailable={unapprovable(app, change)} onClick={() => void approve.run()}>{t('approve')}</Button>
      <Button icon="edit" href={`${at}/code?change=${change.changeId}`}>{t('openEditor')}</Button>
      {again}
    </div>
  );
}

function Differences({ plan: { diff } }: { plan: Schemas['OpenPlan'] }) {
  const triggers = [...diff.triggersAdded, ...diff.triggersRemoved];
  return (
    <>
      <Sentences title={t('gains')} details={diff.gains} tone="warn" />
      <Sentences title={t('losses')} details={diff.losses} tone="ok" />
      <Sentences title={t('triggers')} details={triggers} tone="neutral" />
    </>
  );
}

function Sentences({ title, details, tone }: { title: string; details: readonly Schemas['DiffDetail'][]; tone: 'warn' | 'ok' | 'neutral' }) {
  if (details.length === 0) return null;
  return <Card title={title}><ul class={`card-body changes-sentences tone-${tone}`}>{details.map(({ sentence }) => <li key={sentence}>{sentence}</li>)}</ul></Card>;
}
