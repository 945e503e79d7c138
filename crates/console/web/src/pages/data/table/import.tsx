// Importing a file, in the panel over the grid: which column goes where, what does not fit, how far it has come.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { invalidate } from '#api/resource';
import { closePanel, discardUnsaved, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Loaded, Notice, Panel, ProblemView } from '#ui';
import { t as grid } from '../grid/messages';
import { t } from '../messages';
import { editRefusal, useProject, type Project, type Table } from '../project/frame';
import { FileColumns } from './file-columns';
import { ProgressView, RefusedRows } from './import-outcome';
import { MAX_ROWS, checkRecords, fillable, guessMapping, mappedTwice, toCsv, unfilled, type Mapping } from './import-plan';
import { importRows, type ImportProgress } from './import-request';
import type { Encoding } from './encoding';
import { EncodingChoice, Picker } from './file-picker';
import { readFile, type Picked } from './import-file';
import { readNumbers } from './numbers';
import { SheetNotes } from './sheet-notes';

export default function ImportPanel({ params: { project: id, table: name } }: RouteProps<'/w/:ws/data/:project/:table/import'>) {
  const project = useProject(id);
  const table = project.data?.tables.find((one) => one.name === name);
  return project.data && table ? <Import project={project.data} table={table} /> : <Panel title={t('import')} size="wide"><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

function Import({ project, table }: { project: Project; table: Table }) {
  const [picked, setPicked] = useState<Picked | null>(null);
  const [mapping, setMapping] = useState<Mapping>([]);
  const [leavesOut, setLeavesOut] = useState(false);
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const abort = useRef<AbortController | null>(null);
  const guessed = useRef<Mapping>(mapping);
  const columns = useMemo(() => new Map(fillable(table.columns).map((column) => [column.name, column])), [table]);
  const written = picked?.sheet ?? null;
  const numbers = useMemo(() => (written ? readNumbers(written, mapping, columns) : null), [written, mapping, columns]);
  const sheet = numbers?.sheet ?? null;
  const checked = useMemo(() => (sheet ? checkRecords(sheet, mapping, columns) : null), [sheet, mapping, columns]);
  useUnsaved(picked !== null);
  useEffect(() => () => abort.current?.abort(), []);
  const read = useAction(async (file: File, encoding: Encoding | null = null) => {
    const next = await readFile(file, encoding);
    const guess = next.sheet ? guessMapping(next.sheet.headers, table.columns) : [];
    // What the person chose for the columns outlives the choice of an encoding.
    const keeps = encoding !== null && mapping !== guessed.current && mapping.length === guess.length;
    guessed.current = guess;
    setPicked(next);
    setMapping(keeps ? mapping : guess);
    setLeavesOut(false);
  }, { shows: 'inline' });
  const left = useMemo(() => new Set(leavesOut ? checked?.map(({ index }) => index) : []), [leavesOut, checked]);
  const count = sheet ? sheet.records.length - left.size : null;
  const send = useAction(async () => {
    if (!picked) return;
    abort.current = new AbortController();
    setProgress({ step: 'checked', rows: 0 });
    try {
      const body = sheet ? new Blob([toCsv(sheet, mapping, columns, left)]) : picked.file;
      const { imported, ignoredColumns } = await importRows(`/v1/backend/projects/${project.id}/tables/${table.name}/import`, picked.kind, body, setProgress, abort.current.signal);
      setPicked(null);
      discardUnsaved();
      invalidate([`rows:${project.id}/${table.name}`, `project:${project.id}`]);
      toast(t('imported', { count: imported }), ignoredColumns.length > 0 ? { detail: t('columnsLeftOut', { columns: ignoredColumns.join(', ') }) } : {});
      closePanel();
    } finally {
      setProgress(null);
    }
  }, { shows: 'inline' });
  const twice = mappedTwice(mapping);
  const missing = sheet ? unfilled(mapping, table.columns) : [];
  const unavailable = editRefusal(project) ?? (picked === null ? t('fileFirst') : sheet === null ? null
    : picked.encoding !== null && picked.encoding.chosen === null ? t('encodingFirst')
    : twice.length > 0 ? t('mappedTwice', { column: twice[0] ?? '' })
      : missing.length > 0 ? t('unfilled', { column: missing[0] ?? '' })
        : mapping.every((name) => name === null) ? t('mapFirst')
          : (checked?.length ?? 0) > 0 && !leavesOut ? t('refusedFirst')
            : count === 0 ? t('nothingToImport') : (count ?? 0) > MAX_ROWS ? t('tooManyRows', { count: MAX_ROWS }) : null);
  const actions = progress === null
    ? <Button variant="primary" icon="import" unavailable={unavailable} onClick={() => void send.run()}>{count === null ? t('import') : t('importRows', { count })}</Button>
    : <Button onClick={() => abort.current?.abort()}>{t('cancel')}</Button>;
  return (
    <Panel title={t('importInto', { table: table.name })} size="wide" actions={actions}>
      <Picker picked={picked} busy={read.busy || progress !== null} onPick={(file) => void read.run(file)} />
      {read.problem && <ProblemView problem={read.problem} />}
      {picked?.encoding && <EncodingChoice guessed={picked.encoding} busy={read.busy} onChoose={(encoding) => void read.run(picked.file, encoding)} />}
      {numbers && <SheetNotes numbers={numbers} />}
      {sheet && (
        <FileColumns
          title={t('mapping', { count: sheet.records.length })} sheet={sheet} isGuessed={picked?.encoding != null}
          target={(index) => (
            <select class="input select" aria-label={t('mapColumn', { name: sheet.headers[index] ?? '' })} value={mapping[index] ?? ''} onChange={(event) => setMapping(mapping.with(index, event.currentTarget.value === '' ? null : event.currentTarget.value))}>
              <option value="">{t('leaveOut')}</option>
              {fillable(table.columns).map(({ name, type }) => <option key={name} value={name}>{`${name} · ${grid(`type_${type}`)}`}</option>)}
            </select>
          )}
        />
      )}
      {picked !== null && sheet === null && <Notice>{t('jsonNote')}</Notice>}
      {checked && checked.length > 0 && <RefusedRows refused={checked} leavesOut={leavesOut} onLeaveOut={setLeavesOut} />}
      {progress !== null && <ProgressView progress={progress} count={count} />}
      {send.problem && <ProblemView problem={send.problem} />}
    </Panel>
  );
}
