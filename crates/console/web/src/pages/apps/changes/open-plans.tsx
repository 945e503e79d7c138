// The plans that wait for the person: their own, and those of their tokens and agents.

import { useResource } from '#api/resource';
import { formatTime } from '#i18n';
import { Card, Table } from '#ui';
import { t } from './messages';

/** The open plans of an app, or of every app of the workspace. Nothing is shown without any. */
export function OpenPlans({ ws, app }: { ws: string; app?: string }) {
  const plans = useResource('/v1/workspaces/{ws}/changes', { path: { ws } }, { on: ['changed'] });
  const shown = plans.data?.items.filter(({ appId }) => app === undefined || appId === app) ?? [];
  if (shown.length === 0) return null;
  return (
    <Card title={t('openPlans', { count: shown.length })}>
      <Table label={t('openPlans', { count: shown.length })} head={[t('change'), t('app'), { text: t('until'), align: 'end' }]}>
        {shown.map(({ changeId, appId, appName, summary, expiresAt }) => (
          <tr key={changeId}>
            <td><a class="link" href={`/w/${ws}/apps/${appId}/changes/${changeId}`}>{summary}</a></td>
            <td>{appName}</td>
            <td class="is-end muted">{formatTime(expiresAt)}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
