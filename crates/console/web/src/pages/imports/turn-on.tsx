// What is chosen before an import is turned on: a connection for each key.

import type { ComponentChildren } from 'preact';
import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import { hasRole } from '#frame';
import { Card, Notice, Select } from '#ui';
import { t } from './messages';
import { serviceOf, stepNames, type Connection } from './report';
import type { Import } from './use-import';

/** Returns the connections that are needed if these steps are left out. */
export function neededConnections({ report }: Import, skipped: ReadonlySet<string>): readonly Connection[] {
  return report.connections.filter(({ steps }) => steps.some((id) => !skipped.has(id)));
}

/** Returns the ids of the connections that fit a key. */
export function fittingIds({ context }: Import, key: string): readonly string[] {
  return context.matches.find((match) => match.key === key)?.connectionIds ?? [];
}

interface BindingsProps {
  readonly ws: string;
  readonly imported: Import;
  readonly skipped: ReadonlySet<string>;
  readonly bindings: Readonly<Record<string, string>>;
  readonly onBind: (key: string, id: string) => void;
}

export function Bindings({ ws, imported, skipped, bindings, onBind }: BindingsProps) {
  const { report } = imported;
  const list = useList('/v1/workspaces/{ws}/connections', { path: { ws }, query: { limit: 200 } }, { on: ['connection'] });
  const needed = neededConnections(imported, skipped);
  if (report.connections.length === 0) return null;
  return (
    <Card title={t('connections')}>
      <div class="card-body imports-stack">
        {!hasRole('admin') && needed.length > 0 && <Notice tone="warn"><p>{t('adminBinds')}</p></Notice>}
        {report.connections.map((connection) => (
          <Binding
            key={connection.key} ws={ws} imported={imported} connection={connection} connections={[...list.held, ...list.items]}
            isNeeded={needed.includes(connection)} value={bindings[connection.key] ?? ''} onChange={(id) => onBind(connection.key, id)}
          />
        ))}
      </div>
    </Card>
  );
}

interface BindingProps {
  readonly ws: string;
  readonly imported: Import;
  readonly connection: Connection;
  readonly connections: readonly Schemas['Connection'][];
  readonly isNeeded: boolean;
  readonly value: string;
  readonly onChange: (id: string) => void;
}

function Binding({ ws, imported, connection, connections, isNeeded, value, onChange }: BindingProps) {
  const service = serviceOf(connection, imported.context);
  const label = connection.name === service ? service : t('nameOfService', { name: connection.name, service });
  const usedBy = t('usedBy', { steps: stepNames(connection.steps, imported.report.items) });
  const ids = fittingIds(imported, connection.key);
  if (!isNeeded) return <Without label={label} usedBy={usedBy}>{t('notNeeded')}</Without>;
  if (ids.length === 0) return <Without label={label} usedBy={usedBy}><NoneFits ws={ws} imported={imported} connection={connection} service={service} /></Without>;
  const options = [{ value: '', label: t('choose') }, ...ids.map((id) => ({ value: id, label: connections.find((known) => known.id === id)?.displayName ?? id }))];
  return <Select label={label} hint={usedBy} value={value} onChange={onChange} options={options} />;
}

function Without({ label, usedBy, children }: { label: string; usedBy: string; children: ComponentChildren }) {
  return <div class="imports-without"><b>{label}</b><p>{children}</p><p class="field-hint">{usedBy}</p></div>;
}

function NoneFits({ ws, imported, connection: { connectorId }, service }: { ws: string; imported: Import; connection: Connection; service: string }) {
  const connector = imported.context.connectors.find((known) => known.connectorId === connectorId);
  if (connector?.available === false) return <>{t('notAvailable', { service })}</>;
  const link = <a class="link" href={`/w/${ws}/connections/new/${connectorId ?? 'http'}`}>{t('connectLink', { service })}</a>;
  return <>{t.rich('noneFits', { link })}</>;
}
