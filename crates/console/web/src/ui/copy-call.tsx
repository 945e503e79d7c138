// A request that a button sends, as something to paste into a shell.

import { asCommand, asCurl, type Copied } from '#api/copy';
import { toast } from '#frame/toasts';
import { copyText } from './copyable';
import { Menu } from './menu';
import { t } from './messages';

/** The menu beside a button that changes something: its request for `curl` and for `qala api`. */
export function CopyCall({ call }: { call: Copied }) {
  const copy = async (text: string) => { if (await copyText(text)) toast(t('copied')); };
  return (
    <Menu
      icon="copy" label={t('copyCurl')} variant="plain"
      items={[
        { label: t('copyCurl'), icon: 'copy', onSelect: () => void copy(asCurl(call)) },
        { label: t('copyCommand'), icon: 'copy', onSelect: () => void copy(asCommand(call)) },
      ]}
    />
  );
}
