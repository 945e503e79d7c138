// A request that a button sends, as something to paste into a shell.

import { asCurl, type Copied } from '#api/copy';
import { toast } from '#frame/toasts';
import { Button } from './button';
import { copyText } from './copyable';
import { t } from './messages';

/** The button beside one that changes something: copies its request for `curl`. */
export function CopyCall({ call }: { call: Copied }) {
  const copy = async () => { if (await copyText(asCurl(call))) toast(t('copied')); };
  return <Button icon="copy" label={t('copyCurl')} variant="plain" onClick={() => void copy()} />;
}
