// The workspace itself: its name, its language, what an hour costs, how long data is kept, and its end.

import { useState } from 'preact/hooks';
import { api, urlOf } from '#api/client';
import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { discardUnsaved, loadWorkspaces, toast, useAction, useSeen, useUnsaved, type RouteProps } from '#frame';
import { formatBytes, formatNumber, LOCALE_NAMES, LOCALES } from '#i18n';
import { Button, Card, Copyable, Facts, Loaded, ObjectMenu, ProblemView, Select, TextField } from '#ui';
import { DeleteWorkspace } from './delete-workspace';
import { notManaging, SettingsPage } from './frame';
import { t } from './messages';
import { timeZones } from './time-zones';

type Workspace = Schemas['Workspace'];
type WorkspaceChange = Partial<Pick<Workspace, 'name' | 'locale' | 'timezone' | 'currency' | 'hourlyCostMinor'>>;

const CURRENCIES: readonly Workspace['currency'][] = ['KZT', 'EUR', 'USD'];
const MINOR = 100;

export default function WorkspaceSettings({ params: { ws } }: RouteProps<'/w/:ws/settings'>) {
  const resource = useResource('/v1/workspaces/{ws}', { path: { ws } }, { on: ['workspace', `workspace:${ws}`] });
  return (
    <SettingsPage ws={ws}>
      <div class="settings-column">
        <Loaded resource={resource}>{(workspace) => <Form key={workspace.id} workspace={workspace} resource={resource} />}</Loaded>
        <Retention ws={ws} />
        <DeleteWorkspace ws={ws} />
      </div>
    </SettingsPage>
  );
}

/** The fields of the form, as texts. */
interface Texts extends Pick<Workspace, 'name' | 'locale' | 'timezone' | 'currency'> {
  readonly cost: string;
}
type Draft = Partial<Texts>;

function settingsOf({ name, locale, timezone, currency, hourlyCostMinor }: Workspace): Required<WorkspaceChange> {
  return { name, locale, timezone, currency, hourlyCostMinor };
}

function textsOf({ name, locale, timezone, currency, hourlyCostMinor }: Workspace): Texts {
  return { name, locale, timezone, currency, cost: String(hourlyCostMinor / MINOR) };
}

function valuesOf({ name, locale, timezone, currency, cost }: Texts): Required<WorkspaceChange> {
  return { name: name.trim(), locale, timezone, currency, hourlyCostMinor: Math.round(Number(cost) * MINOR) };
}

/** Returns what differs from the saved workspace. */
function changesOf(workspace: Workspace, entered: Required<WorkspaceChange>): WorkspaceChange {
  return Object.fromEntries(Object.entries(entered).filter(([name, value]) => workspace[name as keyof Workspace] !== value));
}

function Form({ workspace, resource }: { workspace: Workspace; resource: Resource<Workspace> }) {
  // What the person has entered; the rest follows what is saved.
  const [draft, setDraft] = useState<Draft>({});
  const entered = { ...textsOf(workspace), ...draft };
  const set = (change: Draft) => setDraft({ ...draft, ...change });
  const changes = changesOf(workspace, valuesOf(entered));
  const isDirty = Object.keys(changes).length > 0;
  const seen = useSeen(settingsOf(workspace), isDirty, workspace);
  useUnsaved(isDirty, { form: 'workspace', value: draft, restore: setDraft, seen });
  const save = useAction(async () => {
    if (!(await seen.mayOverwrite(changes, () => setDraft({})))) return;
    const saved = await api.patch('/v1/workspaces/{ws}', { path: { ws: workspace.id }, body: changes }, seen.precondition());
    discardUnsaved();
    resource.set(saved);
    setDraft({});
    await loadWorkspaces();
    toast(t('saved'));
  }, { shows: 'inline' });
  return (
    <Card title={t('general')} aside={<ObjectMenu url={urlOf('/v1/workspaces/{ws}', { path: { ws: workspace.id } })} value={workspace} />}>
      <form class="card-body settings-fields" onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
        <TextField label={t('name')} value={entered.name} onInput={(name) => set({ name })} minlength={2} maxlength={60} required autocomplete="organization" />
        <div class="settings-pair">
          <Select label={t('language')} hint={t('languageHint')} value={entered.locale} onChange={(locale) => set({ locale })} options={LOCALES.map((value) => ({ value, label: LOCALE_NAMES[value] }))} />
          <Select label={t('timezone')} hint={t('timezoneHint')} value={entered.timezone} onChange={(timezone) => set({ timezone })} options={timeZones(workspace.timezone).map((value) => ({ value, label: value.replaceAll('_', ' ') }))} />
        </div>
        <div class="settings-pair">
          <TextField label={t('hourlyCost')} hint={t('hourlyCostHint')} type="number" min="0" max="10000000" step="0.01" value={entered.cost} onInput={(cost) => set({ cost })} required />
          <Select label={t('currency')} hint={t('currencyHint')} value={entered.currency} onChange={(currency) => set({ currency })} options={CURRENCIES.map((value) => ({ value, label: t(`currency_${value}`) }))} />
        </div>
        <Facts facts={[[t('id'), <Copyable value={workspace.id} />], [t('slug'), <Copyable value={workspace.slug} />], [t('profile'), t(`profile_${workspace.profile}`)], [t('region'), t(`region_${workspace.cell}`)], [t('membersCount'), formatNumber(workspace.memberCount)], [t('storedCode'), storedCode(workspace)]]} />
        {seen.notice(save.busy)}
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="settings-actions">
          <Button type="submit" variant="primary" busy={save.busy} unavailable={notManaging() ?? (isDirty ? null : t('unchanged'))}>{t('save')}</Button>
        </div>
      </form>
    </Card>
  );
}

/** Returns what the code takes of what the plan lets it take. Nothing is counted for a day after an upgrade that begins to count. */
function storedCode({ storedCodeBytes, storedCodeLimitBytes }: Workspace): string {
  const limit = formatBytes(storedCodeLimitBytes);
  return storedCodeBytes === 0 ? t('storedCodeUnknown', { limit }) : t('storedCodeOf', { used: formatBytes(storedCodeBytes), limit });
}

function Retention({ ws }: { ws: string }) {
  const retention = useResource('/v1/workspaces/{ws}/retention', { path: { ws } });
  return (
    <Card title={t('retention')}>
      <div class="card-body">
        <Loaded resource={retention} lines={1}>{({ runs }) => <p>{runs === null ? t('runsForEver') : t('runsFor', { count: runs })} <span class="muted">{t('retentionByPlan')}</span></p>}</Loaded>
      </div>
    </Card>
  );
}
