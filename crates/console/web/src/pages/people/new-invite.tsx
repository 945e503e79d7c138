// Inviting people: by e-mail, or with links that the person passes on.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { asCurl } from '#api/copy';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, discardUnsaved, roleText, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { locale, LOCALE_NAMES, LOCALES } from '#i18n';
import { Button, Choice, Copyable, Notice, Panel, ProblemView, Select, TextArea, TextField } from '#ui';
import { notManaging } from './frame';
import { revealLinks } from './links';
import { t } from './messages';
import { localInput } from './time';

type InviteRole = Schemas['InviteRole'];
type Deliver = Schemas['Deliver'];

const ROLES: readonly InviteRole[] = ['admin', 'builder', 'member', 'viewer'];
const DAYS = ['1', '3', '7', '14', '30'] as const;
const MAX_AT_ONCE = 20;

function addressesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))];
}

/** Says what is wrong with the addresses before the server has to. */
function errorIn(addresses: readonly string[]): string | null {
  const wrong = addresses.find((address) => !/^[^@]+@[^@]+$/.test(address));
  if (wrong !== undefined) return t('notAddress', { address: wrong });
  return addresses.length > MAX_AT_ONCE ? t('tooMany', { count: MAX_AT_ONCE }) : null;
}

export default function NewInvite({ params: { ws } }: RouteProps<'/w/:ws/people/invites/new'>) {
  const [text, setText] = useState('');
  const [role, setRole] = useState<InviteRole>('member');
  const [deliver, setDeliver] = useState<Deliver>('email');
  const [days, setDays] = useState<(typeof DAYS)[number]>('7');
  const [language, setLanguage] = useState<Schemas['Locale']>(locale.value);
  const [end, setEnd] = useState('');
  const [isChecked, setChecked] = useState(false);
  const addresses = addressesIn(text);
  const error = errorIn(addresses);
  useUnsaved(text !== '', { form: 'invite', value: { text, role, deliver, days, language, end }, restore: (kept) => { setText(kept.text); setRole(kept.role); setDeliver(kept.deliver); setDays(kept.days); setLanguage(kept.language); setEnd(kept.end); } });
  const body: Schemas['CreateInvites'] = { emails: addresses, role, deliver, expiresInDays: Number(days), locale: language, ...(end === '' ? {} : { accessEndsAt: new Date(end).toISOString() }) };
  const invite = useAction(async () => {
    const sent = await api.post('/v1/workspaces/{ws}/invites', { path: { ws }, body });
    discardUnsaved();
    setText('');
    invalidate(['invite']);
    if (deliver === 'link') await revealLinks(sent.links);
    else toast(t('invited', { count: sent.items.length }), sent.delivery === 'dev-log' ? { detail: t('devLog') } : {});
    closePanel();
  }, { shows: 'inline' });
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (error === null && addresses.length > 0) void invite.run();
  };
  const call = { method: 'POST' as const, url: `/v1/workspaces/${ws}/invites`, body };
  const send = <Button type="submit" form="new-invite" variant="primary" busy={invite.busy} unavailable={notManaging()}>{deliver === 'email' ? t('sendInvites') : t('createLinks')}</Button>;
  return (
    <Panel title={t('invite')} actions={<><Button onClick={closePanel}>{t('cancel')}</Button>{send}</>}>
      <form id="new-invite" class="people-fields" noValidate onSubmit={submit}>
        <TextArea label={t('addresses')} hint={t('addressesHint', { count: MAX_AT_ONCE })} error={isChecked ? (addresses.length === 0 ? t('noAddress') : error) : null} value={text} onInput={setText} rows={3} spellcheck={false} autofocus />
        <Choice label={t('role')} value={role} onChange={setRole} options={ROLES.map((value) => ({ value, label: roleText(value), detail: t(`may_${value}`) }))} />
        <Choice label={t('deliver')} value={deliver} onChange={setDeliver} options={[{ value: 'email', label: t('byEmail') }, { value: 'link', label: t('byLink'), detail: t('byLinkHint') }]} />
        <div class="people-pair">
          <Select label={t('validFor')} value={days} onChange={setDays} options={DAYS.map((value) => ({ value, label: t('days', { count: Number(value) }) }))} />
          {deliver === 'email' && <Select label={t('language')} value={language} onChange={setLanguage} options={LOCALES.map((value) => ({ value, label: LOCALE_NAMES[value] }))} />}
        </div>
        <TextField label={t('accessEnds')} hint={t('accessEndsHint')} type="datetime-local" value={end} onInput={setEnd} min={localInput(new Date().toISOString())} />
        {invite.problem && <ProblemView problem={invite.problem} />}
        {addresses.length > 0 && error === null && <Notice><span class="people-copy"><Copyable value={asCurl(call)} shown="curl" /></span></Notice>}
      </form>
    </Panel>
  );
}
