// What a form on a web site needs beside its address.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Schemas } from '#api/types';
import { discardUnsaved, toast, useAction, useSeen, useUnsaved } from '#frame';
import { Button, Card, ProblemView, TextArea, TextField } from '#ui';
import { t } from './messages';
import type { Webhook } from './webhook';

const MAX_SITES = 5;

function sitesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((site) => site !== '');
}

/** Returns what is wrong with the sites: each is an origin, without a path. */
function mistakeOf(sites: readonly string[]): string | null {
  if (sites.length > MAX_SITES) return t('tooManySites', { count: MAX_SITES });
  const wrong = sites.find((site) => !URL.canParse(site) || new URL(site).origin !== site);
  return wrong === undefined ? null : t('notSite', { site: wrong });
}

export function FormSettings({ webhook, form, onChange }: { webhook: Webhook; form: Schemas['FormSettings']; onChange: () => void }) {
  const { automationId: id } = webhook;
  const saved = { hiddenField: form.hiddenField, sites: form.allowedSites.join('\n'), redirect: form.redirect ?? '' };
  const [draft, setDraft] = useState<Partial<typeof saved>>({});
  const { hiddenField, sites, redirect } = { ...saved, ...draft };
  const isChanged = hiddenField !== saved.hiddenField || sites !== saved.sites || redirect !== saved.redirect;
  const mistakes = {
    hiddenField: /^[A-Za-z0-9_-]{1,64}$/.test(hiddenField) ? null : t('notField'),
    sites: mistakeOf(sitesOf(sites)),
    redirect: redirect === '' || (URL.canParse(redirect) && redirect.startsWith('https://')) ? null : t('notHttps'),
  };
  const hasMistake = Object.values(mistakes).some((mistake) => mistake !== null);
  const seen = useSeen({ form }, isChanged, webhook);
  useUnsaved(isChanged, { form: 'form', value: draft, restore: setDraft, seen });
  const save = useAction(async () => {
    if (hasMistake || !isChanged) return;
    const body = { form: { hiddenField, allowedSites: sitesOf(sites), redirect: redirect === '' ? null : redirect } };
    if (!(await seen.mayOverwrite(body, () => setDraft({})))) return;
    await api.patch('/v1/automations/{id}/webhook', { path: { id }, body }, seen.precondition());
    discardUnsaved();
    toast(t('savedNow'));
    onChange();
  }, { shows: 'inline' });
  const submit = (event: Event) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Card title={t('formTitle')}>
      <form class="card-body automations-stack" noValidate onSubmit={submit}>
        <TextField label={t('hiddenField')} hint={t('hiddenFieldHint')} value={hiddenField} onInput={(value) => setDraft({ ...draft, hiddenField: value })} error={mistakes.hiddenField} maxlength={64} spellcheck={false} />
        <TextArea label={t('sites')} hint={t('sitesHint')} rows={3} value={sites} onInput={(value) => setDraft({ ...draft, sites: value })} error={mistakes.sites} spellcheck={false} placeholder="https://www.example.com" />
        <TextField label={t('redirect')} hint={t('redirectHint')} type="url" value={redirect} onInput={(value) => setDraft({ ...draft, redirect: value })} error={mistakes.redirect} placeholder="https://www.example.com/thanks" spellcheck={false} />
        {seen.notice(save.busy)}
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="automations-row"><Button type="submit" variant="primary" busy={save.busy} unavailable={isChanged ? (hasMistake ? t('mendFirst') : null) : t('nothingChanged')}>{t('save')}</Button></div>
      </form>
    </Card>
  );
}
