// The parts of a report that are not about one step.

import type { Schemas } from '#api/types';
import { Card, Facts, Notice } from '#ui';
import { t } from './messages';
import { Grades, toolOf } from './status';

type Report = Schemas['ImportReport'];
export type Connection = Schemas['ImportConnection'];

/** The report in a few sentences, and figures about the workflow. */
export function Overview({ report, more = [] }: { report: Report; more?: Parameters<typeof Facts>[0]['facts'] }) {
  const figures = report.facts.flatMap(({ name, value }) => {
    const label = t.find(`fact_${name}`);
    return label === undefined ? [] : [[label, value] as const];
  });
  return (
    <Card title={t('report')} aside={toolOf(report.format)}>
      <div class="card-body imports-stack">
        <Grades totals={report.totals} />
        <ul class="imports-sentences">{report.sentences.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>
        <Facts facts={[...more, ...figures]} />
      </div>
    </Card>
  );
}

export function Warnings({ warnings, tone = 'warn' }: { warnings: readonly string[]; tone?: 'warn' | 'bad' }) {
  if (warnings.length === 0) return null;
  return <Notice tone={tone}>{warnings.map((warning) => <p key={warning}>{warning}</p>)}</Notice>;
}

/** Where secrets were in the export. */
export function Secrets({ report: { secrets, items } }: { report: Report }) {
  if (secrets.length === 0) return null;
  const nameOf = (id: string | null) => items.find((item) => item.id === id)?.name ?? null;
  return (
    <Card title={t('secrets')}>
      <div class="card-body imports-stack">
        <p class="muted">{t('secretsHint')}</p>
        <ul class="imports-secrets">
          {secrets.map(({ itemId, place, kind }) => (
            <li key={`${place} ${kind}`}>
              <span>{t.find(`secret_${kind}`) ?? kind}{nameOf(itemId) !== null && <span class="muted"> · {nameOf(itemId)}</span>}</span>
              <code>{place}</code>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

/** Returns what a connection leads to: the connector, or the URL of one that is described by hand. */
export function serviceOf({ connectorId, baseUrl, name }: Connection, { connectors }: Schemas['ImportContext']): string {
  if (connectorId === null) return baseUrl ?? name;
  return connectors.find((connector) => connector.connectorId === connectorId)?.name ?? connectorId;
}

/** The names of the steps that need a connection. */
export function stepNames(ids: readonly string[], items: Report['items']): string {
  return ids.map((id) => items.find((item) => item.id === id)?.name ?? id).join(', ');
}

/** The connections that the steps need, before there is an app. */
export function Needs({ report, context }: { report: Report; context: Schemas['ImportContext'] }) {
  if (report.connections.length === 0) return null;
  const countOf = (key: string) => context.matches.find((match) => match.key === key)?.connectionIds.length ?? 0;
  return (
    <Card title={t('connections')}>
      <ul class="card-body imports-needs">
        {report.connections.map((connection) => (
          <li key={connection.key}>
            <span><b>{connection.name}</b> <span class="muted">{serviceOf(connection, context)}</span></span>
            <span class="muted">{t('usedBy', { steps: stepNames(connection.steps, report.items) })}</span>
            <span class="muted">{countOf(connection.key) > 0 ? t('fitting', { count: countOf(connection.key) }) : t('fittingNone')}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
