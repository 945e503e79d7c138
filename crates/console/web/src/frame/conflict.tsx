// The choice between two versions of an object: what somebody else has saved, and what the person is about to save.

import { Button } from '#ui/button';
import { Code } from '#ui/code';
import { Dialog, openDialog } from '#ui/dialog';
import { t } from './messages';

/** Of the object, what the change is about. */
function comparable(theirs: unknown, mine: unknown): unknown {
  if (typeof theirs !== 'object' || theirs === null || typeof mine !== 'object' || mine === null) return theirs;
  const names = Object.keys(mine);
  return Object.fromEntries(Object.entries(theirs).filter(([name]) => names.includes(name)));
}

/** Shows both versions. Resolves to whether to save `mine`; without it, the object is about to be deleted. */
export async function chooseMine(theirs: unknown, mine?: unknown): Promise<boolean> {
  return (await openDialog<boolean>((close) => <Conflict theirs={theirs} mine={mine} close={close} />)) ?? false;
}

function Conflict({ theirs, mine, close }: { theirs: unknown; mine: unknown; close: (isMine?: boolean) => void }) {
  const text = (value: unknown) => JSON.stringify(value, null, 2);
  const actions = (
    <>
      <Button onClick={() => close(false)} autofocus>{t('conflictTheirs')}</Button>
      <Button variant="danger" onClick={() => close(true)}>{t('conflictMine')}</Button>
    </>
  );
  return (
    <Dialog title={t('conflictTitle')} size="wide" actions={actions} onClose={() => close(false)}>
      <div class="prose"><p>{mine === undefined ? t('conflictDelete') : t('conflictBody')}</p></div>
      {mine !== undefined && <Code label={t('conflictTitle')} language="json" value={text(mine)} original={text(comparable(theirs, mine))} height="short" />}
    </Dialog>
  );
}
