// Where a person gives an export: a file that they drop or choose, or its text.

import { useRef, useState } from 'preact/hooks';
import { useAction } from '#frame';
import { formatBytes, formatNumber } from '#i18n';
import { Button, Icon, Notice, TextArea } from '#ui';
import { t } from './messages';
import { MAX_FILE_BYTES, MAX_SOURCE, type Prepared } from './source';

export interface TakenFile {
  readonly name: string;
  readonly size: number;
  readonly text: string;
}

interface SourceFieldProps {
  readonly pasted: string;
  readonly file: TakenFile | null;
  readonly prepared: Prepared;
  readonly error: string | null;
  readonly onPaste: (text: string) => void;
  readonly onTake: (file: TakenFile | null) => void;
}

/** Reads a file as text. Returns why it is not taken, if it is not. */
async function read(file: File): Promise<TakenFile | 'size' | 'text'> {
  if (file.size > MAX_FILE_BYTES) return 'size';
  try {
    return { name: file.name, size: file.size, text: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()) };
  } catch {
    return 'text';
  }
}

export function SourceField({ pasted, file, prepared, error, onPaste, onTake }: SourceFieldProps) {
  const [isOver, setOver] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const take = useAction(async (found: File) => {
    const taken = await read(found);
    if (taken === 'size') return setRefused(t('fileTooLarge', { name: found.name, max: formatBytes(MAX_FILE_BYTES) }));
    if (taken === 'text') return setRefused(t('fileNotText', { name: found.name }));
    setRefused(null);
    onTake(taken);
  });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [found] = event.dataTransfer?.files ?? [];
    if (found) void take.run(found);
  };
  const onPicked = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const [found] = currentTarget.files ?? [];
    if (found) void take.run(found);
    // The same file can be chosen again after it was changed.
    currentTarget.value = '';
  };
  return (
    <section class="imports-stack">
      <div class={`imports-drop ${isOver ? 'is-over' : ''}`} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <p>{t('dropHere')}</p>
        <Button size="small" busy={take.busy} onClick={() => input.current?.click()}>{t('chooseFile')}</Button>
        <input ref={input} type="file" accept=".json,.txt,application/json" hidden aria-label={t('chooseFile')} onChange={onPicked} />
      </div>
      {refused !== null && <Notice tone="bad"><p role="alert">{refused}</p></Notice>}
      {file === null
        ? <TextArea label={t('paste')} hint={t('pasteHint', { max: formatNumber(MAX_SOURCE) })} value={pasted} onInput={onPaste} error={error} rows={8} spellcheck={false} />
        : <Taken file={file} error={error} onClear={() => onTake(null)} />}
      {'source' in prepared && prepared.minifiedFrom !== null && <Notice><p role="status">{t('minified', { from: formatNumber(prepared.minifiedFrom), to: formatNumber(prepared.source.length) })}</p></Notice>}
    </section>
  );
}

function Taken({ file: { name, size }, error, onClear }: { file: TakenFile; error: string | null; onClear: () => void }) {
  return (
    <div class="imports-stack">
      <p class="imports-taken"><Icon name="check" /><span>{t('taken', { name, size: formatBytes(size) })}</span><Button size="small" variant="plain" icon="cross" onClick={onClear}>{t('clearFile')}</Button></p>
      {error !== null && <p class="field-error" role="alert">{error}</p>}
    </div>
  );
}
