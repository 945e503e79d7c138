// What failed for good or was refused, kept for replay.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAll } from '#api/all';
import { urlOf } from '#api/client';
import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import { Page, isReadOnly, path, query, setQuery, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Card, Empty, FilterBar, List, Segments, Status, Table, Time, openDialog, triggerText, type Column, type IconName, type Tone } from '#ui';
import { Batches } from './bulk';
import { causesOf } from './causes';
import { t } from './messages';

type Letter = Schemas['DeadLetterSummary'];
type State = Letter['state'];

/** Causes that are shown, the commonest ones. */
const SHOWN = 8;
const FILTERS = ['kind', 'appId', 'automationId', 'trigger'] as const;
const STATES: readonly (State | 'all')[] = ['open', 'replayed', 'discarded', 'all'];
const TRIGGERS: readonly Schemas['TriggerKind'][] = ['webhook', 'schedule', 'form', 'event', 'manual'];
const SHAPES: Readonly<Record<State, readonly [Tone, IconName]>> = { open: ['bad', 'warn'], replayed: ['ok', 'replay'], discarded: ['neutral', 'trash'] };

export function LetterState({ state }: { state: State }) {
  const [tone, icon] = SHAPES[state];
  return <Status tone={tone} icon={icon}>{t(`state_${state}`)}</Status>;
}

/** The state in the address; what is open by default. */
function shownState(): State | 'all' {
  return STATES.find((state) => state === query.value.get('state')) ?? 'open';
}

export default function DeadLetters({ params: { ws } }: RouteProps<'/w/:ws/dead-letters'>) {
  const state = shownState();
  const filter = (name: (typeof FILTERS)[number]) => query.value.get(name) ?? undefined;
  const list = useList('/v1/workspaces/{ws}/dead-letters', {
    path: { ws },
    query: { state: state === 'all' ? undefined : state, kind: filter('kind') as Letter['kind'] | undefined, appId: filter('appId'), automationId: filter('automationId'), trigger: filter('trigger') as Letter['trigger'] | undefined },
  }, { on: ['run', 'refusal', 'dead_letter'] });
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = list.items.filter(({ id }) => ids.has(id));
  const settle = async (action: Schemas['BulkAction'], letters: readonly Letter[]) => {
    await openDialog<void>((close) => <Batches ws={ws} action={action} letters={letters} onStart={() => setIds(new Set())} close={() => close()} />);
    list.refresh();
  };
  const unavailable = isReadOnly.value || chosen.some(({ canManage }) => !canManage) ? t('mayNotAll') : chosen.some((letter) => letter.state !== 'open') ? t('onlyOpen') : null;
  const actions = (
    <>
      <Button variant="primary" icon="replay" unavailable={unavailable} onClick={() => void settle('replay', chosen)}>{t('replay')}</Button>
      <Button icon="trash" unavailable={unavailable} onClick={() => void settle('discard', chosen)}>{t('discard')}</Button>
    </>
  );
  return (
    <Page title={t('title')} lead={t('lead')} actions={<Button href={`/w/${ws}/queue`}>{t('queue')}</Button>}>
      <Filters ws={ws}>
        <Segments label={t('state')} options={STATES.map((value) => ({ value, label: t(`state_${value}`) }))} value={state} onChange={(value) => { setIds(new Set()); setQuery({ state: value === 'open' ? null : value }); }} />
      </Filters>
      {state === 'open' && <Causes ws={ws} onReplay={(letters) => void settle('replay', letters)} />}
      <List
        label={t('title')} list={list} columns={columns(state)} id={({ id }) => id}
        href={({ id }) => `/w/${ws}/dead-letters/${id}${location.search}`} isCurrent={({ id }) => path.value === `/w/${ws}/dead-letters/${id}`}
        selection={{ ids, onChange: setIds, actions }}
        empty={<Nothing ws={ws} state={state} />}
      />
    </Page>
  );
}

/** The causes of what is open, once several have the same one: each is replayed as a whole. */
function Causes({ ws, onReplay }: { ws: string; onReplay: (letters: readonly Letter[]) => void }) {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.value.get(name)]));
  const all = useAll<Letter>(urlOf('/v1/workspaces/{ws}/dead-letters', { path: { ws }, query: { state: 'open', ...filters } }), ['dead_letter', 'refusal', 'run']);
  const causes = causesOf(all.items ?? []).filter(({ letters }) => letters.length > 1);
  if (causes.length === 0) return null;
  return (
    <div class="letters-causes"><Card title={t('causes')} aside={all.isCut ? t('causesCut', { count: all.items?.length ?? 0 }) : undefined}>
      <Table label={t('causes')} head={[t('cause'), t('app'), { text: t('count'), align: 'end' }, t('firstAndLast'), { text: t('replay'), align: 'end' }]}>
        {causes.slice(0, SHOWN).map(({ key, message, appName, letters, first, last }) => {
          const mine = letters.filter(({ canManage }) => canManage);
          const unavailable = isReadOnly.value || mine.length === 0 ? t('mayNot') : null;
          return (
            <tr key={key}>
              <td class="letters-cause">{message}</td><td>{appName}</td><td class="is-end">{formatNumber(letters.length)}</td>
              <td class="muted"><Time at={first} /> – <Time at={last} /></td>
              <td class="is-end"><Button size="small" icon="replay" unavailable={unavailable} onClick={() => onReplay(mine)}>{t('replayAll', { count: mine.length })}</Button></td>
            </tr>
          );
        })}
      </Table>
    </Card></div>
  );
}

function columns(state: State | 'all'): readonly Column<Letter>[] {
  const stateColumn: Column<Letter> = { key: 'state', header: t('state'), cell: (letter) => <LetterState state={letter.state} /> };
  return [
    { key: 'cause', header: t('cause'), isMain: true, cell: ({ message }) => message },
    ...(state === 'open' ? [] : [stateColumn]),
    { key: 'kind', header: t('kind'), hide: 'phone', cell: ({ kind }) => <span class="muted">{t(`kind_${kind}`)}</span> },
    { key: 'app', header: t('app'), cell: ({ appName }) => <span class="letters-name">{appName}</span> },
    { key: 'automation', header: t('automation'), hide: 'tablet', cell: ({ roadName }) => <span class="letters-name muted">{roadName ?? '–'}</span> },
    { key: 'attempt', header: t('attempts'), align: 'end', hide: 'tablet', cell: ({ attempt }) => attempt },
    { key: 'when', header: t('when'), cell: ({ createdAt }) => <span class="muted"><Time at={createdAt} /></span> },
  ];
}

function Filters({ ws, children }: { ws: string; children: ComponentChildren }) {
  const apps = useAll<Schemas['App']>(urlOf('/v1/workspaces/{ws}/apps', { path: { ws } }), ['app']);
  const automations = useAll<Schemas['Automation']>(urlOf('/v1/workspaces/{ws}/automations', { path: { ws } }), ['automation']);
  const named = (items: readonly { readonly id: string; readonly name: string }[] = []) => items.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <div class="letters-bar">
      {children}
      <FilterBar
        views={`dead-letters.${ws}`}
        filters={[
          { name: 'kind', label: t('kind'), options: (['run', 'delivery'] as const).map((value) => ({ value, label: t(`kind_${value}`) })) },
          { name: 'appId', label: t('app'), options: named(apps.items) },
          { name: 'automationId', label: t('automation'), options: named(automations.items) },
          { name: 'trigger', label: t('trigger'), options: TRIGGERS.map((value) => ({ value, label: triggerText(value) })) },
        ]}
      />
    </div>
  );
}

function Nothing({ ws, state }: { ws: string; state: State | 'all' }) {
  if (FILTERS.some((name) => query.value.has(name))) return <Empty title={t('noneFound')}><p>{t('noneFoundBody')}</p></Empty>;
  if (state !== 'open') return <Empty title={t('noneOfState')} />;
  return <Empty title={t('none')} action={<Button href={`/w/${ws}/runs`}>{t('openRuns')}</Button>}><p>{t('noneBody')}</p></Empty>;
}
