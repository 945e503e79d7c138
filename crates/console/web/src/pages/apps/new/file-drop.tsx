// Where a person drops a folder or picks files.

import { useRef, useState } from 'preact/hooks';
import { useAction } from '#frame';
import { formatBytes } from '#i18n';
import { Button, Icon, Notice } from '#ui';
import { MAX_FILES, MAX_TOTAL_BYTES, bytesOf, entryAmong, type Files } from '../source';
import { t } from './messages';
import { readDropped, readPicked, type ReadFiles } from './read-files';

/** Returns what keeps these files from being an app, or `null`. */
export function filesProblem(files: Files): string | null {
  if (entryAmong(Object.keys(files)) === undefined) return t('noEntry');
  if (Object.keys(files).length > MAX_FILES) return t('tooMany', { max: MAX_FILES });
  return bytesOf(files) > MAX_TOTAL_BYTES ? t('tooLarge', { max: formatBytes(MAX_TOTAL_BYTES) }) : null;
}

export function FileDrop({ value, onChange }: { value: ReadFiles | null; onChange: (read: ReadFiles | null) => void }) {
  const [isOver, setOver] = useState(false);
  const pick = useRef<HTMLInputElement>(null);
  const pickFolder = useRef<HTMLInputElement>(null);
  const take = useAction(async (reading: Promise<ReadFiles>) => onChange(await reading));
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) void take.run(readDropped(event.dataTransfer));
  };
  const onPicked = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    if (currentTarget.files?.length) void take.run(readPicked(currentTarget.files));
  };
  return (
    <div class="new-files">
      <div class={`new-drop ${isOver ? 'is-over' : ''}`} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <p>{t('dropHere')}</p>
        <div class="new-drop-actions">
          <Button size="small" onClick={() => pickFolder.current?.click()}>{t('pickFolder')}</Button>
          <Button size="small" onClick={() => pick.current?.click()}>{t('pickFiles')}</Button>
        </div>
        <input ref={pick} type="file" multiple hidden aria-label={t('pickFiles')} onChange={onPicked} />
        <input ref={pickFolder} type="file" multiple hidden aria-label={t('pickFolder')} {...{ webkitdirectory: true }} onChange={onPicked} />
      </div>
      {value && <Taken read={value} onClear={() => onChange(null)} />}
    </div>
  );
}

function Taken({ read: { files, manifest, refused }, onClear }: { read: ReadFiles; onClear: () => void }) {
  const paths = Object.keys(files).sort();
  const problem = filesProblem(files);
  return (
    <>
      <div class="new-taken">
        <p>{t('taken', { count: paths.length, size: formatBytes(bytesOf(files)) })} <Button size="small" variant="plain" icon="cross" onClick={onClear}>{t('clearFiles')}</Button></p>
        <ul>{paths.map((path) => <li key={path}><Icon name="check" />{path}</li>)}{manifest !== null && <li><Icon name="check" />manifest.json</li>}</ul>
      </div>
      {problem && <Notice tone="bad"><p>{problem}</p></Notice>}
      {refused.length > 0 && <Notice tone="warn"><p>{t('refused')}</p><ul>{refused.map(({ path, reason }) => <li key={path}>{t(`refused_${reason}`, { path })}</li>)}</ul></Notice>}
    </>
  );
}
