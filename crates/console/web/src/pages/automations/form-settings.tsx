// What a form on a web site needs beside its address.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Schemas } from '#api/types';
import { discardUnsaved, toast, useAction, useUnsaved } from '#frame';
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

export function FormSettings({ webhook: { automationId: id }, form, onChange }: { webhook: Webhook; form: Schemas['FormSettings']; onChange: () => void }) {
  const [hiddenField, setHiddenField] = useState(form.hiddenField);
  const [sites, setSites] = useState(form.allowedSites.join('\n'));
  const [redirect, setRedirect] = useState(form.redirect ?? '');
  const isChanged = hiddenField !== form.hiddenField || sites !== form.allowedSites.join('\n') || redirect !== (form.redirect ?? '');
  const mistakes = {
    hiddenField: /^[A-Za-z0-9_-]{1,64}$/.test(hiddenField) ? null : t('notField'),
    sites: mistakeOf(sitesOf(sites)),
    redirect: redirect === '' || (URL.canParse(redirect) && redirect.startsWith('https://')) ? null : t('notHttps'),
  };
  const hasMistake = Object.values(mistakes).some((mistake) => mistake !== null);
  useUnsaved(isChanged);
  const save = useAction(async () => {
    if (hasMistake || !isChanged) return;
    await api.patch('/v1/automations/{id}/webhook', { path: { id }, body: { form: { hiddenField, allowedSites: sitesOf(sites), redirect: redirect === '' ? null : redirect } } });
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
        <TextField label={t('hiddenField')} hint={t('hiddenFieldHint')} value={hiddenField} onInput={setHiddenField} error={mistakes.hiddenField} maxlength={64} spellcheck={false} />
        <TextArea label={t('sites')} hint={t('sitesHint')} rows={3} value={sites} onInput={setSites} error={mistakes.sites} spellcheck={false} placeholder="https://www.example.com" />
        <TextField label={t('redirect')} hint={t('redirectHint')} type="url" value={redirect} onInput={setRedirect} error={mistakes.redirect} placeholder="https://www.example.com/thanks" spellcheck={false} />
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="automations-row"><Button type="submit" variant="primary" busy={save.busy} unavailable={isChanged ? (hasMistake ? t('mendFirst') : null) : t('nothingChanged')}>{t('save')}</Button></div>
      </form>
    </Card>
  );
}
