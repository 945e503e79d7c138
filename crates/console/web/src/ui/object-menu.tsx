// What every object of the API can do: be copied as a request, and be read as it is.

import { asCommand, asCurl, type Copied } from '#api/copy';
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
  return [
    { label: t('copyCurl'), icon: 'copy', onSelect: () => void copied(asCurl(call)) },
    { label: t('copyCommand'), icon: 'copy', onSelect: () => void copied(asCommand(call)) },
  ];
}

/** Returns the items for an object that is read at `url`. */
export function objectItems(url: string, value: unknown): MenuItem[] {
  const show = () => openDialog<void>((close) => <Dialog title={t('rawJson')} size="wide" onClose={() => close()}><Json value={value} label={t('rawJson')} /></Dialog>);
  return [
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
