// The automations of a workspace that agents can start by name.

import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import { Page, path, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Empty, List, Time, type Column } from '#ui';
import { t } from './messages';
import { ToolStatus } from './status';

type Tool = Schemas['AgentTool'];

export default function Tools({ params: { ws } }: RouteProps<'/w/:ws/tools'>) {
  const list = useList('/v1/workspaces/{ws}/agent-tools', { path: { ws } }, { on: ['agent_tool', 'automation', 'app', 'version'], key: ({ automationId }) => automationId });
  return (
    <Page title={t('title')} lead={t('lead')}>
      <List
        label={t('title')} list={list} columns={columns()} id={({ automationId }) => automationId} href={({ automationId }) => `/w/${ws}/tools/${automationId}`}
        isCurrent={({ automationId }) => path.value === `/w/${ws}/tools/${automationId}`}
        empty={<Empty title={t('none')} action={<Button variant="primary" href={`/w/${ws}/automations`}>{t('openAutomations')}</Button>}><p>{t('noneBody')}</p></Empty>}
      />
    </Page>
  );
}

function columns(): readonly Column<Tool>[] {
  return [
    { key: 'title', header: t('name'), isMain: true, cell: ({ title, name }) => <span class="tools-name">{title}<code class="muted">run_{name}</code></span> },
    { key: 'state', header: t('state'), cell: ({ state }) => <ToolStatus state={state} /> },
    { key: 'automation', header: t('automation'), hide: 'tablet', cell: ({ automationName }) => <span class="muted">{automationName}</span> },
    { key: 'app', header: t('app'), hide: 'phone', cell: ({ appName }) => <span class="muted">{appName}</span> },
    { key: 'calls', header: t('callsWeek'), align: 'end', hide: 'phone', cell: ({ callsWeek }) => formatNumber(callsWeek) },
    { key: 'last', header: t('lastCalled'), hide: 'tablet', cell: ({ lastCalledAt }) => <span class="muted">{lastCalledAt === null ? t('neverCalled') : <Time at={lastCalledAt} />}</span> },
  ];
}
