// Links of invites, which the server returns once.

import { useState } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { Button, Checkbox, Copyable, Dialog, openDialog } from '#ui';
import { t } from './messages';

type Link = Schemas['InviteLink'];

/** Shows links until the person says that they have kept them. */
export async function revealLinks(links: readonly Link[]): Promise<void> {
  await openDialog<true>((close) => <Links links={links} close={() => close(true)} />);
}

function Links({ links, close }: { links: readonly Link[]; close: () => void }) {
  const [isKept, setKept] = useState(false);
  // Esc and a click beside it do not lose the links.
  const leave = () => { if (isKept) close(); };
  return (
    <Dialog title={t('linksTitle', { count: links.length })} onClose={leave} actions={<Button variant="primary" onClick={close} unavailable={isKept ? null : t('keepFirst')}>{t('done')}</Button>}>
      <div class="prose"><p>{t('linksOnce')}</p></div>
      <ul class="people-links">{links.map(({ email, link, inviteId }) => <li key={inviteId}><span>{email}</span><Copyable value={link} /></li>)}</ul>
      {links.length > 1 && <Copyable value={links.map(({ email, link }) => `${email} ${link}`).join('\n')} shown={t('copyAll')} />}
      <Checkbox label={t('linksKept')} checked={isKept} onChange={setKept} />
    </Dialog>
  );
}
