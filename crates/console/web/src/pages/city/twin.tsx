// The facts of the town as tables, for everybody.

import { useState } from 'preact/hooks';
import { formatNumber } from '#i18n';
import { AppStatus, Button, Card, Status, Table, Time } from '#ui';
import type { AppFact, CityFacts, GateFact, ProjectFact } from './facts';
import { t } from './messages';
import { triggersText } from './street-view';
import { hrefOf } from './wording';

/** Rows that are shown at first. */
const FIRST = 50;

export function Twin({ ws, facts }: { ws: string; facts: CityFacts }) {
  return (
    <div class="city-twin" id="city-table" tabIndex={-1}>
      {facts.apps.length > 0 && <Apps ws={ws} apps={facts.apps} />}
      <div class="city-twin-pair">
        {facts.projects.length > 0 && <Projects ws={ws} projects={facts.projects} />}
        {facts.gates.length > 0 && <Gates ws={ws} gates={facts.gates} />}
      </div>
    </div>
  );
}

function useFirst<T>(items: readonly T[]): { readonly shown: readonly T[]; readonly more: number; readonly showAll: () => void } {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? items : items.slice(0, FIRST);
  return { shown, more: items.length - shown.length, showAll: () => setWhole(true) };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name.localeCompare(b.name);

function Apps({ ws, apps }: { ws: string; apps: readonly AppFact[] }) {
  const { shown, more, showAll } = useFirst([...apps].sort(byName));
  return (
    <Card title={t('apps')} aside={formatNumber(apps.length)}>
      <Table label={t('apps')} head={[t('app'), t('state'), t('startedBy'), t('lastRun'), t('hosts'), { text: t('deadLetters'), align: 'end' }]}>
        {shown.map((app) => (
          <tr key={app.id}>
            <th scope="row"><a class="city-twin-name" href={hrefOf(ws, app)}>{app.name}</a></th>
            <td><AppStatus app={app.health} ws={ws} /></td>
            <td class="muted">{app.triggers.length > 0 ? triggersText(app).join(', ') : '–'}</td>
            <td class="muted">{app.lastRun ? <a href={`/w/${ws}/runs/${app.lastRun.id}`}><Time at={app.lastRun.at} /></a> : app.hasAllRuns ? t('noRun') : '–'}</td>
            <td class="muted">{app.gates.length > 0 ? <span class="city-hosts" title={app.gates.map(({ host }) => host).join(', ')}>{app.gates.map(({ host }) => host).join(', ')}</span> : '–'}</td>
            <td class="is-end">{app.deadLetters > 0 ? <a class="city-bad" href={`/w/${ws}/dead-letters?appId=${app.id}&state=open`}>{formatNumber(app.deadLetters)}</a> : formatNumber(0)}</td>
          </tr>
        ))}
      </Table>
      {more > 0 && <div class="city-more"><Button size="small" onClick={showAll}>{t('showMore', { count: more })}</Button></div>}
    </Card>
  );
}

function Projects({ ws, projects }: { ws: string; projects: readonly ProjectFact[] }) {
  const { shown, more, showAll } = useFirst([...projects].sort(byName));
  return (
    <Card title={t('projects')} aside={formatNumber(projects.length)}>
      <Table label={t('projects')} head={[t('project'), { text: t('tablesHead'), align: 'end' }, { text: t('requestsPerMinute'), align: 'end' }]}>
        {shown.map((project) => (
          <tr key={project.id}>
            <th scope="row"><a class="city-twin-name" href={hrefOf(ws, project)}>{project.name}</a></th>
            <td class="is-end">{formatNumber(project.tables)}</td><td class="is-end">{formatNumber(project.requestsPerMin, { maximumFractionDigits: 1 })}</td>
          </tr>
        ))}
      </Table>
      {more > 0 && <div class="city-more"><Button size="small" onClick={showAll}>{t('showMore', { count: more })}</Button></div>}
    </Card>
  );
}

function Gates({ ws, gates }: { ws: string; gates: readonly GateFact[] }) {
  const { shown, more, showAll } = useFirst([...gates].sort((a, b) => a.host.localeCompare(b.host)));
  return (
    <Card title={t('gates')} aside={formatNumber(gates.length)}>
      <Table label={t('gates')} head={[t('host'), t('state'), { text: t('appsHead'), align: 'end' }, { text: t('refusedDay'), align: 'end' }]}>
        {shown.map((gate) => (
          <tr key={gate.id}>
            <th scope="row"><a class="city-twin-name" href={`/w/${ws}/gates/${gate.id}`}>{gate.host}</a></th>
            <td>{gate.isClosed ? <Status tone="neutral" icon="lock">{t('closed')}</Status> : <Status tone="ok" icon="check">{t('open')}</Status>}</td>
            <td class="is-end">{formatNumber(gate.apps)}</td><td class="is-end">{formatNumber(gate.refused)}</td>
          </tr>
        ))}
      </Table>
      {more > 0 && <div class="city-more"><Button size="small" onClick={showAll}>{t('showMore', { count: more })}</Button></div>}
    </Card>
  );
}
