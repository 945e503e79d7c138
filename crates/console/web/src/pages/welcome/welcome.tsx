// The first workspace, or one more.

import { useEffect, useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { loadSession, loadWorkspaces, navigate, session, useAction, useTitle, workspacePath, workspaces } from '#frame';
import { locale } from '#i18n';
import { Button, Checkbox, ProblemView, Select, TextField } from '#ui';
import { t } from './messages';

type Intent = Schemas['Intent'];
type Profile = Schemas['Profile'];
type TeamSize = Schemas['TeamSize'];

const INTENTS: readonly Intent[] = ['internal_tools', 'customer_app', 'automations', 'data', 'ai', 'other'];
const PROFILES: readonly Profile[] = ['global', 'eu', 'kz-standard', 'kz-strict'];
const SIZES: readonly TeamSize[] = ['solo', 'small', 'medium', 'large'];

export default function Welcome() {
  useTitle(t('title'));
  const isVisitor = session.value === null;
  useEffect(() => { if (isVisitor) location.replace('/sign-in?next=/welcome'); }, [isVisitor]);
  if (isVisitor) return null;
  const isFirst = workspaces.value.length === 0;
  return (
    <>
      <h1>{isFirst ? t('titleFirst') : t('title')}</h1>
      <p class="muted">{t('lead')}</p>
      <Suggestions />
      <Create />
      {!isFirst && <Button variant="plain" href="/">{t('back')}</Button>}
    </>
  );
}

/** Workspaces that the person may join by the domain of their address. */
function Suggestions() {
  const suggestions = useResource('/v1/me/join-suggestions', {});
  const join = useAction(async (ws: string) => {
    await api.post('/v1/workspaces/{ws}/join', { path: { ws }, body: {} });
    await loadSession();
    await navigate(workspacePath(ws));
  });
  if (!suggestions.data?.items.length) return null;
  return (
    <section class="welcome-join">
      <h2>{t('joinTitle')}</h2>
      {suggestions.data.items.map((item) => (
        <div key={item.workspaceId} class="welcome-suggestion">
          <span>{item.name}<small>{t('joinMembers', { count: item.memberCount })}</small></span>
          <Button busy={join.busy} onClick={() => void join.run(item.workspaceId)}>{t('join')}</Button>
        </div>
      ))}
    </section>
  );
}

function Create() {
  const [name, setName] = useState('');
  const [intents, setIntents] = useState<readonly Intent[]>([]);
  const [profile, setProfile] = useState<Profile>('global');
  const [teamSize, setTeamSize] = useState<TeamSize>('small');
  const create = useAction(async () => {
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const made = await api.post('/v1/workspaces', { body: { name: name.trim(), profile, teamSize, intents: intents.length > 0 ? [...intents] : ['other'], locale: locale.value, timezone } });
    session.value = made.session;
    await loadWorkspaces();
    await navigate(workspacePath(made.workspace.id));
  }, { shows: 'inline' });
  const toggle = (intent: Intent, isOn: boolean) => setIntents(isOn ? [...intents, intent] : intents.filter((other) => other !== intent));
  return (
    <form onSubmit={(event) => { event.preventDefault(); void create.run(); }}>
      <TextField label={t('name')} hint={t('nameHint')} value={name} onInput={setName} minlength={2} maxlength={60} required autofocus autocomplete="organization" />
      <Select label={t('size')} value={teamSize} onChange={setTeamSize} options={SIZES.map((value) => ({ value, label: t(`size_${value}`) }))} />
      <fieldset class="welcome-intents">
        <legend>{t('intents')}</legend>
        {INTENTS.map((intent) => <Checkbox key={intent} label={t(`intent_${intent}`)} checked={intents.includes(intent)} onChange={(isOn) => toggle(intent, isOn)} />)}
      </fieldset>
      <details>
        <summary>{t('profileIs', { profile: t(`profile_${profile}`) })}</summary>
        <Select label={t('profile')} hint={t('profileHint')} value={profile} onChange={setProfile} options={PROFILES.map((value) => ({ value, label: t(`profile_${value}`) }))} />
      </details>
      {create.problem && <ProblemView problem={create.problem} />}
      <Button type="submit" variant="primary" busy={create.busy}>{t('create')}</Button>
    </form>
  );
}
