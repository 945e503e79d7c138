// An app at a glance: where it responds, what starts it, what it did last, how far it can be trusted.

import { api } from '#api/client';
import { useList } from '#api/list';
import { invalidate, useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { navigate, toast, useAction, useCommands, type RouteProps } from '#frame';
import { formatDuration } from '#i18n';
import { appReasons, Button, Card, Copyable, Empty, Facts, Icon, Loaded, Notice, Person, RunStatus, Table, Time, triggerText } from '#ui';
import { AppPage, missingRight, useApp, type App } from './app-page';
import { t } from './messages';
import { useMembers } from './people';
import { Permissions, useGates } from './permissions';
import { Current, archetypeText } from './status';
import { TrustReasons } from './trust-reasons';

const RUNS_SHOWN = 8;

export default function Overview({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id'>) {
  const app = useApp(id).data;
  const code = `/w/${ws}/apps/${id}/code`;
  useCommands([{ id: 'apps.code', label: t('editCode'), keys: 'e', run: () => void navigate(code) }]);
  return (
    <AppPage ws={ws} id={id} actions={app && <Actions app={app} code={code} />}>
      {(shown) => <Content ws={ws} app={shown} />}
    </AppPage>
  );
}

function Actions({ app, code }: { app: App; code: string }) {
  const unavailable = missingRight(app, 'can_edit');
  const isPaused = app.paused;
  const pause = useAction(async (paused: boolean) => {
    await api.patch('/v1/apps/{id}', { path: { id: app.id }, body: { paused } });
    invalidate(['app', `app:${app.id}`]);
    toast(paused ? t('paused') : t('resumed'), { action: { label: t('undo'), run: () => void pause.run(!paused) } });
  });
  useCommands([{ id: 'apps.pause', label: isPaused ? t('resume') : t('pause'), when: () => unavailable === null, run: () => void pause.run(!isPaused) }]);
  return (
    <>
      <Button icon={isPaused ? 'play' : 'pause'} busy={pause.busy} unavailable={unavailable} onClick={() => void pause.run(!isPaused)}>{isPaused ? t('resume') : t('pause')}</Button>
      <Button variant="primary" icon="edit" command="apps.code" href={code}>{unavailable === null ? t('editCode') : t('readCode')}</Button>
    </>
  );
}

function Content({ ws, app }: { ws: string; app: App }) {
  const versionId = app.currentVersionId ?? null;
  const version = useResource('/v1/apps/{id}/versions/{versionId}', versionId === null ? null : { path: { id: app.id, versionId } });
  return (
    <>
      {app.description && <p class="app-description">{app.description}</p>}
      <AppFacts ws={ws} app={app} />
      {app.statusReasons.length > 0 && <Notice tone={app.status === 'failing' ? 'bad' : 'warn'}>{appReasons(app).map((reason) => <p key={reason}>{reason}</p>)}</Notice>}
      {versionId === null && <Notice tone="info" actions={<Button size="small" href={`/w/${ws}/apps/${app.id}/code`}>{t('writeFirst')}</Button>}><p>{t('noVersion')}</p></Notice>}
      <ClosedGates ws={ws} app={app} />
      <div class="app-columns">
        <div class="app-column">
          <Card title={t('startedBy')} aside={<a class="link" href={`/w/${ws}/automations?appId=${app.id}`}>{t('showAll')}</a>}><Automations ws={ws} app={app} /></Card>
          <Card title={t('recentRuns')} aside={<a class="link" href={`/w/${ws}/runs?appId=${app.id}`}>{t('showAll')}</a>}><Runs ws={ws} app={app} /></Card>
        </div>
        {versionId !== null && (
          <div class="app-column">
            <Card title={t('mayUse')}><div class="card-body"><Loaded resource={version} lines={3}>{({ manifest }) => <Permissions ws={ws} manifest={manifest} />}</Loaded></div></Card>
            <Card title={t('trust')} aside={version.data && <VersionLink ws={ws} app={app} version={version.data} />}>
              <div class="card-body"><Loaded resource={version} lines={3}>{(data) => <TrustReasons version={data} />}</Loaded></div>
            </Card>
          </div>
        )}
      </div>
    </>
  );
}

function VersionLink({ ws, app, version }: { ws: string; app: App; version: Schemas['AppVersion'] }) {
  return <><a class="link" href={`/w/${ws}/apps/${app.id}/versions/${version.number}`}>{t('versionNumber', { number: version.number })}</a><Current /></>;
}

function AppFacts({ ws, app }: { ws: string; app: App }) {
  const { find } = useMembers(ws);
  const creator = find(app.createdBy);
  return (
    <div class="app-facts">
      <div class="app-address">
        <Copyable value={app.url} label={t('copyAddress')} />
        <a class="button button-quiet button-small" href={app.url} target="_blank" rel="noopener noreferrer"><Icon name="out" /><span>{t('open')}<span class="hidden-text"> {t('newTab')}</span></span></a>
      </div>
      <Facts
        facts={[
          [t('sharing'), <a class="link" href={`/w/${ws}/apps/${app.id}/access`}>{t(`sharing_${app.sharing}`)}</a>],
          [t('archetype'), archetypeText(app.archetype)],
          [t('category'), t(`category_${app.category}`)],
          creator ? [t('madeBy'), <Person user={creator} />] : null,
          [t('madeAt'), <Time at={app.createdAt} />],
        ]}
      />
    </div>
  );
}

/** Says which hosts the app names and cannot reach. */
function ClosedGates({ ws, app }: { ws: string; app: App }) {
  const closed = useGates(ws)?.filter(({ appIds, status }) => status === 'closed' && appIds.includes(app.id)) ?? [];
  if (closed.length === 0) return null;
  return (
    <Notice tone="warn" actions={<Button size="small" href={`/w/${ws}/gates?appId=${app.id}`}>{t('showGates')}</Button>}>
      <p>{t('gatesClosed', { count: closed.length, hosts: closed.map(({ host }) => host).join(', ') })}</p>
    </Notice>
  );
}

function Automations({ ws, app }: { ws: string; app: App }) {
  const automations = useResource('/v1/workspaces/{ws}/automations', { path: { ws }, query: { appId: app.id, limit: 200 } }, { on: ['automation'] });
  return (
    <Loaded resource={automations} lines={2}>
      {({ items: own }) => {
        if (own.length === 0) return <div class="card-body app-starts"><p class="muted">{t('noAutomations')}</p><Button size="small" icon="plus" unavailable={missingRight(app, 'can_edit')} href={`/w/${ws}/automations/new?app=${app.id}`}>{t('startIt')}</Button></div>;
        return (
          <ul class="app-rows">
            {own.map((automation) => (
              <li key={automation.id}>
                <a class="link" href={`/w/${ws}/automations/${automation.id}`}>{automation.name}</a>
                <span class="muted">{triggerText(automation.trigger.type)}{automation.trigger.cron ? <> <code>{automation.trigger.cron}</code></> : null}</span>
                <span class="muted">{automation.status === 'active' ? (automation.nextRunAt && t.rich('nextRun', { when: <Time at={automation.nextRunAt} zone={automation.trigger.timezone ?? undefined} /> })) : t(`automation_${automation.status}`)}</span>
                <Button size="small" variant="plain" icon="play" label={t('runAutomation', { name: automation.name })} unavailable={missingRight(app, 'can_run')} href={`/w/${ws}/automations/${automation.id}/run`} />
              </li>
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}

function Runs({ ws, app }: { ws: string; app: App }) {
  const runs = useList('/v1/workspaces/{ws}/runs', { path: { ws }, query: { appId: app.id, limit: RUNS_SHOWN } }, { on: ['run'] });
  const shown = [...runs.held, ...runs.items].slice(0, RUNS_SHOWN);
  if (!runs.isComplete || runs.error) return <div class="card-body"><Loaded resource={{ data: undefined, error: runs.error, refresh: runs.refresh }} lines={3}>{() => null}</Loaded></div>;
  if (shown.length === 0) return <Empty title={t('noRuns')}><p>{t('noRunsBody')}</p></Empty>;
  return (
    <div class="app-runs"><Table label={t('recentRuns')} head={[t('status'), t('startedByHead'), { text: t('took'), align: 'end' }, { text: t('when'), align: 'end' }]}>
      {shown.map((run) => (
        <tr key={run.id}>
          <td><a href={`/w/${ws}/runs/${run.id}`}><RunStatus status={run.status} /></a></td>
          <td class="muted">{run.roadName ?? triggerText(run.trigger)}</td>
          <td class="is-end">{run.durationMs === null ? '–' : formatDuration(run.durationMs)}</td>
          <td class="is-end muted"><Time at={run.startedAt} /></td>
        </tr>
      ))}
    </Table></div>
  );
}

