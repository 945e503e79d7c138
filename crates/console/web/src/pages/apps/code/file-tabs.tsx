// The files of an app as tabs: chosen, added, renamed and deleted here.

import { useState } from 'preact/hooks';
import { Button, Dialog, Icon, Menu, TextField, openDialog } from '#ui';
import { MANIFEST, entryAmong, pathProblem } from '../source';
import { t } from './messages';

interface FileTabsProps {
  readonly paths: readonly string[];
  readonly shown: string;
  readonly changed: ReadonlySet<string>;
  /** Tab with a problem. */
  readonly faulty: string | null;
  readonly onChoose: (tab: string) => void;
  /** Without it, files can only be looked at. */
  readonly edit?: {
    readonly onAdd: (path: string) => void;
    readonly onRename: (from: string, to: string) => void;
    readonly onRemove: (path: string) => void;
  } | undefined;
}

export function FileTabs({ paths, shown, changed, faulty, onChoose, edit }: FileTabsProps) {
  const entry = entryAmong(paths);
  const tabs = [...paths.filter((path) => path === entry), ...paths.filter((path) => path !== entry), MANIFEST];
  const ask = (from: string | null) => openDialog<string>((close) => <PathDialog from={from} taken={paths} close={close} />);
  const add = async () => {
    const path = await ask(null);
    if (path !== undefined) edit?.onAdd(path);
  };
  const rename = async () => {
    const path = await ask(shown);
    if (path !== undefined) edit?.onRename(shown, path);
  };
  const isManifest = shown === MANIFEST ? t('manifestStays') : null;
  const isEntry = entry !== undefined && shown === entry ? t('entryStays', { entry }) : null;
  return (
    <div class="file-tabs">
      <div class="code-tabs" role="group" aria-label={t('files')}>
        {tabs.map((tab) => (
          <button key={tab} type="button" aria-pressed={tab === shown} class={`${changed.has(tab) ? 'is-changed' : ''} ${tab === faulty ? 'is-faulty' : ''}`} onClick={() => onChoose(tab)}>
            {tab === faulty && <Icon name="warn" />}{tab}
          </button>
        ))}
      </div>
      {edit && (
        <div class="file-tabs-actions">
          <Button size="small" variant="plain" icon="plus" onClick={() => void add()}>{t('addFile')}</Button>
          <Menu
            size="small" variant="plain" icon="more" label={t('fileActions', { file: shown })}
            items={[
              { label: t('rename'), icon: 'edit', unavailable: isManifest, onSelect: () => void rename() },
              { label: t('remove'), icon: 'trash', tone: 'bad', unavailable: isManifest ?? isEntry, onSelect: () => edit.onRemove(shown) },
            ]}
          />
        </div>
      )}
    </div>
  );
}

function PathDialog({ from, taken, close }: { from: string | null; taken: readonly string[]; close: (path?: string) => void }) {
  const [path, setPath] = useState(from ?? '');
  const problem = path === from ? null : pathProblem(path, taken);
  const isReady = path !== from && problem === null;
  const title = from === null ? t('addFile') : t('renameOf', { file: from });
  return (
    <Dialog title={title} onClose={() => close()} actions={<><Button onClick={() => close()}>{t('cancel')}</Button><Button type="submit" form="file-path" variant="primary" unavailable={isReady ? null : t('pathFirst')}>{from === null ? t('addFile') : t('rename')}</Button></>}>
      <form id="file-path" onSubmit={(event) => { event.preventDefault(); if (isReady) close(path); }}>
        <TextField label={t('path')} hint={t('pathHint')} error={problem !== null && problem !== 'empty' ? t(`path_${problem}`) : null} value={path} onInput={setPath} placeholder="lib/orders.js" spellcheck={false} autocomplete="off" autofocus />
      </form>
    </Dialog>
  );
}
