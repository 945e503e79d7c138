// What every object of the API can do: be copied as a request, and be read as it is.

import { asCurl, type Copied } from '#api/copy';
import { hasRole, workspaceId } from '#frame/session';
import { toast } from '#frame/toasts';
import { copyText } from './copyable';
import { Dialog, openDialog } from './dialog';
import { Json } from './json';
import { Menu, type MenuItem, type MenuItems } from './menu';
import { t } from './messages';

async function copied(text: string): Promise<void> {
  if (await copyText(text)) toast(t('copied'));
}

/** Returns the items that copy a request. */
export function requestItems(call: Copied): MenuItem[] {
  return [{ label: t('copyCurl'), icon: 'copy', onSelect: () => void copied(asCurl(call)) }];
}

/** Prefixes of the ids of what the audit log names as its objects. */
const AUDITED = ['app', 'ver', 'auto', 'hook', 'tool', 'run', 'dl', 'gate', 'conn', 'proj', 'pkey', 'imp', 'tok', 'inv', 'grant', 'chg', 'usr'];

/** Returns the item that leads to what the audit log has about an object, for those who may read it. */
function historyItem(value: unknown): MenuItem[] {
  const { id, user } = (value ?? {}) as { readonly id?: unknown; readonly user?: { readonly id?: unknown } };
  const target = id ?? user?.id;
  const ws = workspaceId.peek();
  if (ws === null || typeof target !== 'string' || !AUDITED.includes(target.slice(0, target.lastIndexOf('_'))) || !hasRole('admin')) return [];
  // The history of an app is also that of what belongs to it.
  const filter = target.startsWith('app_') ? 'appId' : 'target';
  return [{ label: t('history'), icon: 'clock', href: `/w/${ws}/settings/audit?${filter}=${target}` }];
}

/** Returns the items for an object that is read at `url`. */
export function objectItems(url: string, value: unknown): MenuItem[] {
  const show = () => openDialog<void>((close) => <Dialog title={t('rawJson')} size="wide" onClose={() => close()}><Json value={value} label={t('rawJson')} /></Dialog>);
  return [
    ...historyItem(value),
    ...requestItems({ method: 'GET', url }),
    { label: t('rawJson'), icon: 'info', onSelect: () => void show() },
  ];
}

/** The menu beside the main action of a page about one object. */
export function ObjectMenu({ url, value, items = [] }: { url: string; value: unknown; items?: MenuItems }) {
  return <Menu icon="more" label={t('moreActions')} items={[...items, ...(items.length > 0 ? [null] : []), ...objectItems(url, value)]} />;
}

/** The menu beside the button of an action: its request as something to paste into a shell. */
export function RequestMenu({ call }: { call: Copied }) {
  return <Menu icon="more" label={t('moreActions')} items={requestItems(call)} />;
}
