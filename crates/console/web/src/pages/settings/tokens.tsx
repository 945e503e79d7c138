// The person's own tokens in the workspace.

import { api, urlOf } from '#api/client';
import { useList, type List as ListData } from '#api/list';
import type { Schemas } from '#api/types';
import { toast, useAction, type RouteProps } from '#frame';
import { Button, confirm, Empty, List, Menu, objectItems, Status, Time, type Column } from '#ui';
import { notWriting, SettingsPage } from './frame';
import { t } from './messages';

type Token = Schemas['TokenRecord'];

/** Returns the words for scopes. A scope contains those below it. */
export function scopesText(scopes: readonly Schemas['Scope'][]): string {
  if (scopes.includes('admin')) return t('scope_admin');
  return t(scopes.includes('write') ? 'scope_write' : 'scope_read');
}

export default function Tokens({ params: { ws } }: RouteProps<'/w/:ws/settings/tokens'>) {
  const list = useList('/v1/workspaces/{ws}/tokens', { path: { ws } }, { on: ['token'] });
  const create = <Button variant="primary" icon="plus" href={`/w/${ws}/settings/tokens/new`} unavailable={notWriting()}>{t('createToken')}</Button>;
  return (
    <SettingsPage ws={ws} lead={t('tokensLead')} actions={create}>
      <List label={t('tokens')} list={list} columns={columns(ws, list)} id={({ id }) => id} empty={<Empty title={t('noTokens')} action={create}><p>{t('noTokensBody')}</p></Empty>} />
    </SettingsPage>
  );
}

function stateOf({ revokedAt, expiresAt }: Token) {
  if (revokedAt !== null) return <Status tone="neutral" icon="cross">{t('state_revoked')}</Status>;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return <Status tone="warn" icon="clock">{t('state_expired')}</Status>;
  return <Status tone="ok" icon="check">{t('state_valid')}</Status>;
}

function columns(ws: string, list: ListData<Token>): readonly Column<Token>[] {
  return [
    { key: 'name', header: t('name'), isMain: true, cell: ({ name }) => name },
    { key: 'state', header: t('state'), cell: (token) => stateOf(token) },
    { key: 'value', header: t('value'), hide: 'phone', cell: ({ prefix, last4 }) => <code>{prefix}…{last4}</code> },
    { key: 'scopes', header: t('scopes'), cell: ({ scopes }) => scopesText(scopes) },
    { key: 'used', header: t('lastUsed'), hide: 'tablet', cell: ({ lastUsedAt }) => <span class="muted">{lastUsedAt === null ? t('unused') : <Time at={lastUsedAt} />}</span> },
    { key: 'expires', header: t('expires'), hide: 'tablet', cell: ({ expiresAt }) => <span class="muted">{expiresAt === null ? t('noExpiry') : <Time at={expiresAt} as="moment" />}</span> },
    { key: 'actions', header: '', align: 'end', cell: (token) => <Actions ws={ws} token={token} list={list} /> },
  ];
}

function Actions({ ws, token, list }: { ws: string; token: Token; list: ListData<Token> }) {
  const revoke = useAction(async () => {
    if (!(await confirm({ title: t('revokeTokenTitle', { name: token.name }), body: <p>{t('revokeTokenBody')}</p>, action: t('revoke'), tone: 'bad' }))) return;
    await api.delete('/v1/workspaces/{ws}/tokens/{tokenId}', { path: { ws, tokenId: token.id } });
    list.refresh();
    toast(t('revoked', { name: token.name }));
  });
  const items = [
    ...(token.revokedAt === null ? [{ label: t('revoke'), icon: 'trash' as const, tone: 'bad' as const, unavailable: notWriting(), onSelect: () => void revoke.run() }, null] : []),
    ...objectItems(urlOf('/v1/workspaces/{ws}/tokens', { path: { ws } }), token),
  ];
  return <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name: token.name })} items={items} />;
}
