// What a person should know about how a file is read.

import { formatList } from '#i18n';
import { Notice } from '#ui';
import { t } from '../messages';
import type { ReadNumbers } from './numbers';

/** Shows what is left out of the file, and which numbers become others. `nameOf` names a column of the mapping. */
export function SheetNotes({ numbers: { sheet: { blankLines, blankColumns }, read, rounded }, nameOf = (column) => column }: { numbers: ReadNumbers; nameOf?: (column: string) => string }) {
  return (
    <>
      {(blankLines > 0 || blankColumns > 0) && <p class="muted">{[blankLines > 0 && t('blankLines', { count: blankLines }), blankColumns > 0 && t('blankColumns', { count: blankColumns })].filter(Boolean).join(' ')}</p>}
      {read.length > 0 && <p class="muted">{t('decimalComma', { columns: formatList(read.map(nameOf)) })}</p>}
      {rounded.length > 0 && <Notice tone="warn"><p>{t('rounded', { columns: formatList(rounded.map(nameOf)) })}</p></Notice>}
    </>
  );
}
