// Where a person gives a file of rows, and says how its text is encoded.

import { useState } from 'preact/hooks';
import { formatBytes } from '#i18n';
import { Icon, Notice, Select } from '#ui';
import { t } from '../messages';
import { ENCODINGS, type Encoding } from './encoding';
import type { Guessed, Picked } from './import-file';

export function Picker({ picked, busy, onPick }: { picked: Picked | null; busy: boolean; onPick: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer?.files[0];
    if (file && !busy) onPick(file);
  };
  return (
    <label class={`data-drop ${isOver ? 'is-over' : ''}`} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={onDrop}>
      <input type="file" class="hidden-text" accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,text/csv,application/json" disabled={busy} onChange={(event) => { const file = event.currentTarget.files?.[0]; if (file) onPick(file); }} />
      <Icon name="import" />
      <span class="data-drop-name">{picked === null ? t('dropFile') : t('pickedFile', { name: picked.file.name, size: formatBytes(picked.file.size) })}</span>
      <small>{t('dropHint')}</small>
      <span class="button button-quiet button-normal" aria-hidden="true">{picked === null ? t('chooseFile') : t('chooseOther')}</span>
    </label>
  );
}

/** The file does not say how its text is encoded: the person sees it below as it was decoded, and chooses. */
export function EncodingChoice({ guessed: { guess, chosen }, busy, onChoose }: { guessed: Guessed; busy: boolean; onChoose: (encoding: Encoding) => void }) {
  const options = [...(chosen === null ? [{ value: '' as const, label: t('choose') }] : []), { value: guess, label: t('likely', { encoding: guess }) }, ...ENCODINGS.filter((name) => name !== guess).map((value) => ({ value, label: value }))];
  return (
    <Notice tone="warn">
      <p>{t('encodingNote', { encoding: chosen ?? guess })}</p>
      <Select<Encoding | ''> label={t('encoding')} value={chosen ?? ''} disabled={busy} onChange={(value) => { if (value !== '') onChoose(value); }} options={options} />
    </Notice>
  );
}
