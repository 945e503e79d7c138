// Who may do what with an app.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { discardUnsaved, session, toast, useAction, useSeen, useUnsaved, type RouteProps } from '#frame';
import { Button, Card, Choice, Loaded, Notice, Person, ProblemView, Select } from '#ui';
import { LEVEL_NAMES, levelOf, rightsOf, type Level } from './access-rights';
import { AppPage, missingRight, type App } from './app-page';
import { t } from './messages';
import { useMembers, type User } from './people';
import { SHARINGS } from './status';

type Access = Schemas['AppAccessView'];
type Grant = Schemas['PersonRights'];

export default function AccessPage({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id/access'>) {
  return <AppPage ws={ws} id={id} part="access">{(app) => <MayShare ws={ws} app={app} />}</AppPage>;
}

function MayShare({ ws, app }: { ws: string; app: App }) {
  const refusal = missingRight(app, 'can_share');
  const isAllowed = app.rights.includes('can_share');
  const access = useResource('/v1/apps/{id}/access', isAllowed ? { path: { id: app.id } } : null, { on: [`app:${app.id}`] });
  if (!isAllowed) return <Notice><p>{refusal}</p></Notice>;
  return <Loaded resource={access} lines={6}>{(data) => <Form ws={ws} app={app} saved={data} resource={access} refusal={refusal} />}</Loaded>;
}

const text = (access: Access) => JSON.stringify([access.sharing, [...access.people].sort((a, b) => (a.userId < b.userId ? -1 : 1))]);

function Form({ ws, app, saved, resource, refusal }: { ws: string; app: App; saved: Access; resource: Resource<Access>; refusal: string | null }) {
  // What the person has chosen; until then, the form follows what is saved.
  const [draft, setDraft] = useState<Access | null>(null);
  const access = draft ?? saved;
  const isDirty = text(access) !== text(saved);
  // It replaces the whole list: what somebody else saved meanwhile is not lost unseen.
  const seen = useSeen(saved, isDirty, saved);
  useUnsaved(isDirty, { form: 'access', value: draft, restore: setDraft, seen });
  const reset = () => setDraft(null);
  const save = useAction(async () => {
    if (!(await seen.mayOverwrite(access, reset))) return;
    const next = await api.put('/v1/apps/{id}/access', { path: { id: app.id }, body: access }, seen.precondition());
    discardUnsaved();
    resource.set(next);
    reset();
    toast(t('accessSaved'));
  }, { shows: 'inline' });
  const setPeople = (people: Grant[]) => setDraft({ ...access, people });
  return (
    <form class="access" onSubmit={(event) => { event.preventDefault(); if (isDirty && refusal === null) void save.run(); }}>
      <Choice
        label={t('sharingHead')} value={access.sharing} onChange={(sharing) => setDraft({ ...access, sharing })}
        options={SHARINGS.map((value) => ({ value, label: t(`sharing_${value}`), detail: t(`sharingDetail_${value}`) }))}
      />
      <People ws={ws} app={app} people={access.people} onChange={setPeople} />
      {seen.notice(save.busy)}
      {save.problem && <ProblemView problem={save.problem} />}
      <div class="app-form-actions">
        <Button type="submit" variant="primary" busy={save.busy} unavailable={refusal ?? (isDirty ? null : t('nothingChanged'))}>{t('save')}</Button>
        {isDirty && <Button onClick={reset}>{t('reset')}</Button>}
      </div>
    </form>
  );
}

function People({ ws, app, people, onChange }: { ws: string; app: App; people: readonly Grant[]; onChange: (people: Grant[]) => void }) {
  const { members, find } = useMembers(ws);
  // They may do everything anyway.
  const always = members.filter(({ role, user }) => role === 'owner' || role === 'admin' || user.id === app.createdBy).map(({ user }) => user);
  const addable = members.map(({ user }) => user).filter(({ id }) => !people.some(({ userId }) => userId === id) && !always.some((user) => user.id === id));
  const change = (userId: string, rights: Grant['rights']) => onChange(people.map((grant) => (grant.userId === userId ? { userId, rights } : grant)));
  return (
    <Card title={t('peopleHead')}>
      <p class="card-body muted">{t('peopleBody')}</p>
      <ul class="access-people">
        {people.map(({ userId, rights }) => {
          const user = find(userId);
          const name = user?.name ?? userId;
          return (
            <li key={userId}>
              {user ? <Person user={user} /> : <code>{userId}</code>}
              <LevelSelect name={name} rights={rights} onChange={(next) => change(userId, next)} />
              <Button variant="plain" icon="cross" label={t('removePerson', { name })} onClick={() => onChange(people.filter((grant) => grant.userId !== userId))} />
            </li>
          );
        })}
      </ul>
      {addable.length > 0 ? <AddPerson users={addable} onAdd={(userId, level) => onChange([...people, { userId, rights: rightsOf(level) }])} /> : <p class="card-body muted">{t('nobodyToAdd')}</p>}
      {always.length > 0 && <p class="card-body access-always muted">{t('always')} {always.map((user) => <Person key={user.id} user={user.id === session.value?.user.id ? { ...user, name: t('you', { name: user.name }) } : user} />)}</p>}
    </Card>
  );
}

function LevelSelect({ name, rights, onChange }: { name: string; rights: Grant['rights']; onChange: (rights: Grant['rights']) => void }) {
  const level = levelOf(rights);
  const options = LEVEL_NAMES.map((value) => ({ value: value as string, label: t(`level_${value}`) }));
  const shown = level === null ? [...options, { value: 'other', label: t('level_other', { rights: rights.map((right) => t(`right_${right}`)).join(', ') }) }] : options;
  return <Select label={t('levelOf', { name })} isLabelHidden value={level ?? 'other'} onChange={(value) => { if (value !== 'other') onChange(rightsOf(value as Level)); }} options={shown} />;
}

function AddPerson({ users, onAdd }: { users: readonly User[]; onAdd: (userId: string, level: Level) => void }) {
  const [id, setId] = useState('');
  const [level, setLevel] = useState<Level>('run');
  const chosen = users.some((user) => user.id === id) ? id : (users[0]?.id ?? '');
  return (
    <div class="access-add">
      <Select label={t('person')} value={chosen} onChange={setId} options={users.map((user) => ({ value: user.id, label: user.email ? `${user.name} · ${user.email}` : user.name }))} />
      <Select label={t('may')} value={level} onChange={setLevel} options={LEVEL_NAMES.map((value) => ({ value, label: t(`level_${value}`) }))} />
      <Button icon="plus" onClick={() => onAdd(chosen, level)}>{t('add')}</Button>
    </div>
  );
}
