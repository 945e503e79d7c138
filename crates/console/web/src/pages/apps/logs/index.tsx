// The log of an app, as it is written.

import { useEffect, useState } from 'preact/hooks';
import { urlOf } from '#api/client';
import { query, setQuery, useAction, useCommands, type RouteProps } from '#frame';
import { Button, Empty, FilterBar, Log, Notice, ProblemView, RequestMenu, Skeleton, Status, TextField, type LogLine } from '#ui';
import { AppPage, type App } from '../app-page';
import { t } from './messages';
import type { LogFilter } from './buffer';
import { useLog } from './use-log';

/** Levels that can be asked for; the lowest is everything. */
const LEVELS = ['info', 'warn', 'error'] as const;
const SEARCH_AFTER = 300;

export default function LogsPage({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id/logs'>) {
  return (
    <AppPage ws={ws} id={id} part="logs" isWide>
      {(app) => (app.rights.includes('can_edit') ? <Logs ws={ws} app={app} /> : <Notice><p>{t('mayNot')}</p></Notice>)}
    </AppPage>
  );
}

function filterOf(): LogFilter {
  const value = (name: string) => query.value.get(name) ?? undefined;
  return { level: value('level') as LogLine['level'] | undefined, q: value('q'), runId: value('runId') };
}

/** Returns the number of the line that the address leads to. */
function useLineOfAddress(): readonly [number | null, () => void] {
  const read = () => Number(/^#line-(\d+)$/.exec(location.hash)?.[1] ?? 0) || null;
  // A link that is followed inside the page marks a line that is shown anyway.
  const [line, setLine] = useState(read);
  const clear = () => {
    history.replaceState(history.state, '', location.pathname + location.search);
    setLine(null);
  };
  return [line, clear];
}

function Logs({ ws, app }: { ws: string; app: App }) {
  const filter = filterOf();
  const [line, clearLine] = useLineOfAddress();
  const log = useLog(app.id, filter, line);
  const marked = useMarkedLine();
  useCommands([{ id: 'apps.newest', label: t('showNewest'), when: () => line !== null, run: clearLine }]);
  const isFiltered = filter.level !== undefined || filter.q !== undefined || filter.runId !== undefined;
  return (
    <div class="logs">
      <Filters app={app} filter={filter} isLive={line === null} isConnected={log.isConnected} />
      {line !== null && <Notice actions={<Button size="small" onClick={clearLine}>{t('showNewest')}</Button>}><p>{t('upToLine')}</p></Notice>}
      {log.problem && <ProblemView problem={log.problem} onRetry={log.refresh} />}
      {!log.isRead && !log.problem && <Skeleton lines={10} />}
      {log.isRead && log.lines.length === 0 && (isFiltered
        ? <Empty title={t('noneFound')} action={<Button onClick={() => setQuery({ level: null, q: null, runId: null })}>{t('showAll')}</Button>} />
        : <Empty title={t('none')} action={<Button href={`/w/${ws}/automations?appId=${app.id}`}>{t('noneAction')}</Button>}><p>{t('noneBody', { count: log.keepDays })}</p></Empty>)}
      {log.lines.length > 0 && (
        <>
          <Older log={log} />
          <Log label={t('title')} lines={log.lines} search={filter.q ?? ''} isLive={line === null} isMarked={({ id }) => id === marked} onFollow={log.follow} runLink={{ label: t('openRun'), href: (runId) => `/w/${ws}/runs/${runId}` }} />
        </>
      )}
    </div>
  );
}

/** The line of the address, also of a link that was followed inside the page. */
function useMarkedLine(): number | null {
  const read = () => Number(/^#line-(\d+)$/.exec(location.hash)?.[1] ?? 0) || null;
  const [marked, setMarked] = useState(read);
  useEffect(() => {
    const onChange = () => setMarked(read());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return marked;
}

function Older({ log: { hasOlder, loadOlder, lines, keepDays, held } }: { log: ReturnType<typeof useLog> }) {
  const load = useAction(loadOlder);
  return (
    <p class="logs-older muted">
      {hasOlder ? <Button size="small" busy={load.busy} onClick={() => void load.run()}>{t('loadOlder')}</Button> : t('beginning', { count: keepDays })}
      <span role="status">{held > 0 ? <b class="logs-held">{t('held', { count: held })}</b> : t('shown', { count: lines.length })}</span>
    </p>
  );
}

function Filters({ app, filter, isLive, isConnected }: { app: App; filter: LogFilter; isLive: boolean; isConnected: boolean }) {
  const url = urlOf('/v1/apps/{id}/logs', { path: { id: app.id }, query: { ...filter, limit: 200 } });
  const filters = [
    { name: 'level', label: t('level'), options: LEVELS.map((value) => ({ value, label: t(`level_${value}`) })) },
    ...(filter.runId === undefined ? [] : [{ name: 'runId', label: t('run'), options: [{ value: filter.runId, label: filter.runId.slice(-8) }] }]),
  ];
  return (
    <div class="logs-filters">
      <FilterBar filters={filters}>
        <Search />
        {isLive && <Status tone={isConnected ? 'ok' : 'neutral'} icon={isConnected ? 'play' : 'ring'}>{isConnected ? t('live') : t('connecting')}</Status>}
        <RequestMenu call={{ method: 'GET', url }} />
      </FilterBar>
    </div>
  );
}

/** Searches once the person has paused. */
function Search() {
  const current = query.value.get('q') ?? '';
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  useEffect(() => {
    if (text === current) return undefined;
    const timer = setTimeout(() => setQuery({ q: text.trim() }), SEARCH_AFTER);
    return () => clearTimeout(timer);
  }, [text, current]);
  return <div class="apps-search"><TextField label={t('search')} isLabelHidden type="search" placeholder={t('search')} value={text} onInput={setText} maxlength={100} /></div>;
}
