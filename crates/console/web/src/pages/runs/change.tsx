// The change of an app that would let a run through: a plan, nothing is done yet.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import type { RouteProps } from '#frame';
import { Button, Copyable, Json, Loaded, Notice, Panel, Time } from '#ui';
import { t } from './messages';

export default function ChangePanel({ params: { ws, change } }: RouteProps<'/w/:ws/runs/:id/change/:change'>) {
  const planned = useResource('/v1/changes/{changeId}', { path: { changeId: change } }, { on: [`change:${change}`] });
  const app = planned.data ? `/w/${ws}/apps/${planned.data.appId}` : null;
  return (
    <Panel title={t('change')} actions={app && <Button variant="primary" icon="edit" href={`${app}/code?change=${change}`}>{t('openEditor')}</Button>}>
      <Loaded resource={planned}>{({ plan, changeId }) => <Plan plan={plan} id={changeId} />}</Loaded>
    </Panel>
  );
}

function Plan({ plan, id }: { plan: Schemas['OpenPlan']; id: string }) {
  return (
    <>
      <div class="prose">
        <p class="change-summary">{plan.summary}</p>
        <p class="muted">{t.rich('changeExpires', { when: <Time at={plan.expiresAt} as="moment" /> })} <Copyable value={id} /></p>
      </div>
      <Sentences title={t('gains')} details={plan.diff.gains} tone="warn" />
      <Sentences title={t('losses')} details={plan.diff.losses} tone="ok" />
      {plan.steps.length > 0 && <section class="change-part"><h3>{t('changeSteps')}</h3><ol>{plan.steps.map((step) => <li key={step}>{step}</li>)}</ol></section>}
      {plan.notes.map((note) => <p key={note} class="muted">{note}</p>)}
      <ManifestLines plan={plan} />
      <Notice>{t('changeBy')}</Notice>
      <details><summary>{t('manifest')}</summary><Json value={plan.manifest} label={t('manifest')} /></details>
    </>
  );
}

/** What the manifest gets, to copy by hand. */
function ManifestLines({ plan: { manifest, diff } }: { plan: Schemas['OpenPlan'] }) {
  const entries = (manifest.permissions?.egress ?? []).filter(({ host }) => diff.gains.some(({ subject, name }) => subject === 'egress' && name === host));
  if (entries.length === 0) return null;
  return <section class="change-part"><h3>{t('manifestLine')}</h3>{entries.map((entry) => <Copyable key={entry.host} value={JSON.stringify(entry)} />)}</section>;
}

function Sentences({ title, details, tone }: { title: string; details: readonly Schemas['DiffDetail'][]; tone: 'warn' | 'ok' }) {
  if (details.length === 0) return null;
  return (
    <section class={`change-part tone-${tone}`}>
      <h3>{title}</h3>
      <ul class="change-sentences">{details.map(({ sentence }) => <li key={sentence}>{sentence}</li>)}</ul>
    </section>
  );
}
