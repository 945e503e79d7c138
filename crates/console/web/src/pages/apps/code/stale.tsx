// Somebody saved another version while this one was edited.

import { Button, Notice, confirm } from '#ui';
import { discardUnsaved } from '#frame';
import type { App } from '../app-page';
import { t } from './messages';
import type { Editing, Version } from './use-source';

export function Stale({ ws, app, editing, current }: { ws: string; app: App; editing: Editing; current: Version }) {
  const compare = `/w/${ws}/apps/${app.id}/versions/${current.number}${editing.base ? `?compare=${editing.base.number}` : ''}`;
  const takeTheirs = async () => {
    if (!(await confirm({ title: t('theirsTitle'), body: <p>{t('discardBody')}</p>, action: t('takeTheirs', { number: current.number }), tone: 'bad' }))) return;
    discardUnsaved();
    editing.restart(current);
  };
  const actions = (
    <>
      <a class="link" href={compare} target="_blank" rel="noopener">{t('seeTheirs', { number: current.number })}</a>
      <Button size="small" onClick={() => void takeTheirs()}>{t('takeTheirs', { number: current.number })}</Button>
      <Button size="small" onClick={() => editing.rebase(current)}>{t('keepMine')}</Button>
    </>
  );
  return <Notice tone="warn" actions={actions}><p>{t('stale', { number: current.number, name: current.createdByName ?? '?', summary: current.summary })}</p></Notice>;
}
