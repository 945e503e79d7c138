// The domain whose people may join by themselves.

import { useState } from 'preact/hooks';
import { api, urlOf } from '#api/client';
import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasRole, roleText, toast, useAction, useSwitch, type RouteProps } from '#frame';
import { Button, Card, confirm, Copyable, Empty, Loaded, Notice, ObjectMenu, Particulars, ProblemView, Select, Status, Switch, TextField, Time } from '#ui';
import { AdminsOnly, notManaging, PeoplePage } from './frame';
import { t } from './messages';

type Domain = Schemas['JoinDomain'];
type Props = { readonly ws: string; readonly domain: Domain; readonly resource: Resource<Domain> };

export default function JoinDomainPage({ params: { ws } }: RouteProps<'/w/:ws/people/domain'>) {
  return <PeoplePage ws={ws}>{hasRole('admin') ? <Settings ws={ws} /> : <AdminsOnly />}</PeoplePage>;
}

function Settings({ ws }: { ws: string }) {
  const resource = useResource('/v1/workspaces/{ws}/join-domain', { path: { ws } }, { on: ['join_domain'] });
  return (
    <Loaded resource={resource}>
      {(domain) => (domain.domain === null ? <Claim ws={ws} domain={domain} resource={resource} /> : <Claimed ws={ws} domain={domain} resource={resource} />)}
    </Loaded>
  );
}

function Claim({ ws, domain: { suggestion }, resource }: Props) {
  const [name, setName] = useState(suggestion ?? '');
  const claim = useAction(async () => {
    resource.set(await api.put('/v1/workspaces/{ws}/join-domain', { path: { ws }, body: { domain: name.trim() } }));
  }, { shows: 'inline' });
  return (
    <Empty
      title={t('noDomain')}
      action={(
        <form class="people-claim" onSubmit={(event) => { event.preventDefault(); void claim.run(); }}>
          <TextField label={t('domainName')} value={name} onInput={setName} placeholder="example.com" minlength={3} maxlength={253} autocomplete="off" spellcheck={false} required />
          <Button type="submit" variant="primary" busy={claim.busy} unavailable={notManaging()}>{t('claim')}</Button>
          {claim.problem && <ProblemView problem={claim.problem} />}
        </form>
      )}
    >
      <p>{t('noDomainBody')}</p>
    </Empty>
  );
}

function Claimed({ ws, domain, resource }: Props) {
  const name = domain.domain ?? '';
  const isVerified = domain.status === 'verified';
  const unavailable = notManaging();
  const remove = useAction(async () => {
    if (!(await confirm({ title: t('releaseTitle', { domain: name }), body: <p>{t('releaseBody')}</p>, action: t('release'), tone: 'bad' }))) return;
    await api.delete('/v1/workspaces/{ws}/join-domain', { path: { ws } });
    resource.refresh();
    toast(t('released', { domain: name }));
  });
  const status = isVerified ? <Status tone="ok" icon="check">{t('verified')}</Status> : <Status tone="warn" icon="clock">{t('notVerified')}</Status>;
  return (
    <div class="people-domain">
      <Card title={name} aside={<>{status}<ObjectMenu url={urlOf('/v1/workspaces/{ws}/join-domain', { path: { ws } })} value={domain} /></>}>
        <div class="card-body people-fields">
          {isVerified ? domain.verifiedAt && <p class="muted">{t.rich('verifiedAt', { when: <Time at={domain.verifiedAt} as="moment" /> })}</p> : <Verify ws={ws} domain={domain} resource={resource} />}
        </div>
      </Card>
      <Joining ws={ws} domain={domain} resource={resource} />
      <div><Button variant="danger" busy={remove.busy} unavailable={unavailable} onClick={() => void remove.run()}>{t('release')}</Button></div>
    </div>
  );
}

function Verify({ ws, domain: { record }, resource }: Props) {
  const [isMissing, setMissing] = useState(false);
  const verify = useAction(async () => {
    const checked = await api.post('/v1/workspaces/{ws}/join-domain/verify', { path: { ws }, body: {} });
    setMissing(checked.status !== 'verified');
    resource.set(checked);
    if (checked.status === 'verified') toast(t('verifiedNow', { domain: checked.domain ?? '' }));
  }, { shows: 'inline' });
  return (
    <>
      <p>{t('publish')}</p>
      {record && <Particulars facts={[[t('recordType'), <code>{record.type}</code>], [t('recordHost'), <Copyable value={record.host} />], [t('recordValue'), <Copyable value={record.value} />]]} />}
      {isMissing && !verify.busy && !verify.problem && <Notice tone="warn"><p>{t('recordMissing')}</p></Notice>}
      {verify.problem && <ProblemView problem={verify.problem} />}
      <div><Button variant="primary" busy={verify.busy} unavailable={notManaging()} onClick={() => void verify.run()}>{t('verify')}</Button></div>
      <p class="muted">{t('publishWait')}</p>
    </>
  );
}

function Joining({ ws, domain, resource }: Props) {
  const save = async (body: Schemas['ChangeJoinDomain']) => {
    resource.set(await api.patch('/v1/workspaces/{ws}/join-domain', { path: { ws }, body }));
    toast(t('saved'));
  };
  const change = useAction(save);
  const autoJoin = useSwitch(domain.autoJoin, (isOn) => save({ autoJoin: isOn }));
  const isBlocked = change.busy || autoJoin.busy || notManaging() !== null;
  return (
    <Card title={t('joining')}>
      <div class="card-body people-fields">
        <Select label={t('joinRole')} value={domain.role} disabled={isBlocked} onChange={(role) => void change.run({ role })} options={(['member', 'viewer'] as const).map((value) => ({ value, label: roleText(value) }))} />
        <Switch label={t('autoJoin')} hint={t('autoJoinHint')} checked={autoJoin.checked} disabled={isBlocked} onChange={autoJoin.set} />
      </div>
    </Card>
  );
}
