// One import: each step of the export beside the function that it became, and what is chosen before it is turned on.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Problem } from '#api/problem';
import { invalidate, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, discardUnsaved, isReadOnly, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Copyable, Loaded, Notice, ObjectMenu, ProblemView, Time, confirm } from '#ui';
import { missingRight } from '../apps/app-page';
import { t } from './messages';
import { Overview, Secrets, Warnings } from './report';
import { ImportStatus } from './status';
import { MAX_SKIPPED, Steps } from './steps';
import { Bindings, fittingIds, neededConnections } from './turn-on';
import { useImport, useImportedApp, useMainModule, type Import } from './use-import';

export default function ImportPage({ params: { ws, id } }: RouteProps<'/w/:ws/imports/:id'>) {
  const resource = useImport(id);
  if (!resource.data) return <Page title={t('import')} crumbs={crumbs(ws)}><Loaded resource={resource} lines={12}>{() => null}</Loaded></Page>;
  return <Shown key={id} ws={ws} imported={resource.data} resource={resource} />;
}

const crumbs = (ws: string) => [{ label: t('apps'), href: `/w/${ws}/apps` }, { label: t('title'), href: `/w/${ws}/imports` }];

interface ShownProps {
  readonly ws: string;
  readonly imported: Import;
  readonly resource: Resource<Import>;
}

/** What is chosen before an import is turned on. The only connection that fits is chosen by itself. */
function useChoices(imported: Import) {
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const needed = neededConnections(imported, skipped);
  const bound = needed.flatMap(({ key }) => {
    const ids = fittingIds(imported, key);
    const id = chosen[key] ?? (ids.length === 1 ? ids[0] : undefined);
    return id !== undefined && ids.includes(id) ? [[key, id] as const] : [];
  });
  const bindings: Readonly<Record<string, string>> = Object.fromEntries(bound);
  return {
    skipped, bindings,
    missing: needed.filter(({ key }) => bindings[key] === undefined),
    isDirty: skipped.size > 0 || Object.keys(chosen).length > 0,
    value: { skipped: [...skipped], chosen },
    restore: (kept: { readonly skipped: readonly string[]; readonly chosen: Readonly<Record<string, string>> }) => { setSkipped(new Set(kept.skipped)); setChosen(kept.chosen); },
    bind: (key: string, id: string) => setChosen((now) => ({ ...now, [key]: id })),
    skip: (id: string, isSkipped: boolean) => setSkipped((now) => new Set(isSkipped ? [...now, id] : [...now].filter((one) => one !== id))),
    body: { bindings, skip: [...skipped] },
  };
}

type Choices = ReturnType<typeof useChoices>;

function unavailableReason(app: Schemas['App'] | undefined, { missing }: Choices): string | null {
  const refusal = missingAppRight(app);
  if (refusal !== null) return refusal;
  return missing.length === 0 ? null : t('missing', { names: missing.map(({ name }) => name).join(', ') });
}

function missingAppRight(app: Schemas['App'] | undefined): string | null {
  if (app !== undefined) return missingRight(app, 'can_edit');
  return isReadOnly.value ? t('readOnly') : null;
}

function Shown({ ws, imported, resource }: ShownProps) {
  const { id, name, status, appId } = imported;
  const isOpen = status === 'review' && appId !== null;
  const choices = useChoices(imported);
  /** Steps that the server left to an admin when the import was turned on. */
  const [left, setLeft] = useState<readonly string[]>([]);
  const app = useImportedApp(appId);
  const module = useMainModule(app.data);
  useUnsaved(isOpen && choices.isDirty, { form: 'choices', value: choices.value, restore: choices.restore });
  const settled = (next: Import) => {
    discardUnsaved();
    resource.set(next);
    invalidate(['app', ...(appId === null ? [] : [`app:${appId}`]), 'automation', 'gate']);
  };
  const turnOn = useAction(async () => {
    const { needsConsole, ...next } = await api.post('/v1/imports/{id}/enable', { path: { id }, body: choices.body });
    setLeft(needsConsole);
    settled(next);
    toast(t('turnedOn', { name }));
  }, { shows: 'inline' });
  const discard = useAction(async () => {
    if (!(await confirm({ title: t('discardTitle', { name }), body: t('discardBody'), action: t('discard'), tone: 'bad' }))) return;
    settled(await api.post('/v1/imports/{id}/discard', { path: { id }, body: {} }));
    toast(t('discardedNow', { name }));
  });
  const actions = (
    <>
      {isOpen && <Button icon="trash" busy={discard.busy} unavailable={missingAppRight(app.data)} onClick={() => void discard.run()}>{t('discard')}</Button>}
      {isOpen && <Button variant="primary" icon="play" busy={turnOn.busy} unavailable={unavailableReason(app.data, choices)} onClick={() => void turnOn.run()}>{t('turnOn')}</Button>}
      <ObjectMenu url={`/v1/imports/${id}`} value={imported} />
    </>
  );
  return (
    <Page title={name} aside={<><ImportStatus status={status} /><Copyable value={id} /></>} crumbs={crumbs(ws)} actions={actions} isWide>
      <div class="imports-page">
        {turnOn.problem && <Refused problem={turnOn.problem} />}
        <State imported={imported} left={left} choices={choices} />
        <Warnings warnings={imported.report.warnings} />
        <div class="imports-cards">
          <Overview report={imported.report} more={factsOf(ws, imported)} />
          {isOpen && <Bindings ws={ws} imported={imported} skipped={choices.skipped} bindings={choices.bindings} onBind={choices.bind} />}
          <Secrets report={imported.report} />
        </div>
        <Steps
          items={imported.report.items} totals={imported.report.totals} module={module === null ? null : { text: module, href: `/w/${ws}/apps/${appId}/code` }}
          skipping={isOpen ? { ids: choices.skipped, startId: imported.report.trigger.itemId, onToggle: choices.skip } : null}
        />
      </div>
    </Page>
  );
}

function factsOf(ws: string, { appId, automationId, createdAt, name }: Import) {
  return [
    appId === null ? null : [t('app'), <a class="link" href={`/w/${ws}/apps/${appId}`}>{name}</a>] as const,
    automationId === null ? null : [t('automation'), <a class="link" href={`/w/${ws}/automations/${automationId}`}>{name}</a>] as const,
    [t('created'), <Time at={createdAt} />] as const,
  ];
}

/** Says what state the import is in, and what is left to do. */
function State({ imported: { status, appId }, left, choices: { skipped } }: { imported: Import; left: readonly string[]; choices: Choices }) {
  if (left.length > 0) return <Notice tone="warn"><p role="status">{t('needsConsole')}</p>{left.map((sentence) => <p key={sentence}>{sentence}</p>)}</Notice>;
  if (status === 'discarded') return <Notice><p>{t('isDiscarded')}</p></Notice>;
  if (appId === null) return <Notice><p>{t('appGone')}</p></Notice>;
  if (status === 'enabled') return null;
  return (
    <Notice tone="ask">
      <p>{t('isReview')}</p>
      {skipped.size > 0 && <p role="status">{t('leftOut', { number: formatNumber(skipped.size), max: formatNumber(MAX_SKIPPED) })}</p>}
    </Notice>
  );
}

/** A refusal. The button that leads to it stays in sight; this may not be. */
function Refused({ problem }: { problem: Problem }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => element.current?.scrollIntoView({ block: 'center' }), [problem]);
  return <div ref={element}><ProblemView problem={problem} /></div>;
}
