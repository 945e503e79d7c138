// Choosing what to connect.

import { useState } from 'preact/hooks';
import type { Schemas } from '#api/types';
import type { RouteProps } from '#frame';
import { Badge, Button, Loaded, Notice, Panel, Select, TextField } from '#ui';
import { HTTP, Monogram, notChoosable, useAllowed, useCatalogue, type Connector } from './catalogue';
import { t } from './messages';
import { mayNotWrite } from './use-connections';

type Group = Schemas['ConnectorGroup'];

const GROUPS: readonly Group[] = ['messaging', 'email', 'crm', 'commerce', 'data', 'developer'];

export default function NewConnection({ params: { ws } }: RouteProps<'/w/:ws/connections/new'>) {
  const catalogue = useCatalogue();
  const actions = <Button unavailable={mayNotWrite()} href={`/w/${ws}/connections/new/http${location.search}`}>{t('connectHttp')}</Button>;
  return <Panel title={t('connect')} size="wide" actions={actions}><Loaded resource={catalogue}>{(connectors) => <Choose ws={ws} connectors={connectors} />}</Loaded></Panel>;
}

function Choose({ ws, connectors }: { ws: string; connectors: readonly Connector[] }) {
  const [text, setText] = useState('');
  const [group, setGroup] = useState<Group | 'all'>('all');
  const allowed = useAllowed(ws);
  const refusal = mayNotWrite();
  const wanted = text.trim().toLowerCase();
  const found = connectors.filter(({ id, name, summary, service, group: of }) => (group === 'all' || of === group) && `${id}\n${name}\n${summary}\n${service}`.toLowerCase().includes(wanted));
  const showAll = () => {
    setText('');
    setGroup('all');
  };
  return (
    <>
      {refusal !== null && <Notice><p>{refusal}</p></Notice>}
      <div class="connections-find" role="search" aria-label={t('findConnector')}>
        <TextField label={t('search')} type="search" value={text} onInput={setText} autofocus />
        <Select label={t('group')} value={group} onChange={setGroup} options={[{ value: 'all', label: t('allGroups') }, ...GROUPS.map((value) => ({ value, label: t(`group_${value}`) }))]} />
      </div>
      {found.length === 0 && <Notice actions={<Button size="small" onClick={showAll}>{t('showAll')}</Button>}><p>{t('noConnector')}</p></Notice>}
      {GROUPS.map((name) => {
        const members = found.filter((connector) => connector.group === name);
        return members.length > 0 && (
          <section key={name} class="connections-group">
            <h3>{t(`group_${name}`)}</h3>
            <ul class="connections-options">{members.map((connector) => <li key={connector.id}><Option ws={ws} connector={connector} reason={notChoosable(connector, allowed)} isLink={refusal === null} /></li>)}</ul>
          </section>
        );
      })}
    </>
  );
}

function Option({ ws, connector, reason, isLink }: { ws: string; connector: Connector; reason: string | null; isLink: boolean }) {
  const { id, name, monogram, summary, status } = connector;
  const inside = (
    <>
      <Monogram>{monogram}</Monogram>
      <span class="connections-option-name">{name}{status !== 'available' && <Badge tone={status === 'beta' || status === 'preview' ? 'info' : 'neutral'}>{t(`connector_${status.replaceAll('-', '_') as 'planned'}`)}</Badge>}</span>
      <small>{summary}</small>
      {reason !== null && <small>{reason}</small>}
    </>
  );
  if (reason !== null || !isLink) return <div class={`connections-option ${reason === null ? '' : 'is-unavailable'}`}>{inside}</div>;
  return <a class="connections-option" href={`/w/${ws}/connections/new/${id === HTTP ? HTTP : encodeURIComponent(id)}${location.search}`}>{inside}</a>;
}
