import { useState } from 'preact/hooks';
import { Icon } from './icon';
import { t } from './messages';

const SHOWN_FOR = 1_500;

/** Puts a text on the clipboard. Resolves to whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without a secure context there is no clipboard to write to: copy what is selected.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'hidden-text';
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}

/** An id, or another text that one takes elsewhere. A click copies it. */
export function Copyable({ value, shown = value, label }: { value: string; shown?: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(value))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_FOR);
  };
  return (
    <button type="button" class="copyable" onClick={() => void copy()} data-tip={isCopied ? t('copied') : (label ?? t('copy'))}>
      <code>{shown}</code><Icon name={isCopied ? 'check' : 'copy'} />
      <span class="hidden-text" aria-live="polite">{isCopied ? t('copied') : t('copy')}</span>
    </button>
  );
}
