// Importing a file, in the panel over the grid: which column goes where, what does not fit, how far it has come.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { invalidate } from '#api/resource';
import { closePanel, discardUnsaved, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Checkbox, Loaded, Notice, Panel, ProblemView, Table as FewRows } from '#ui';
import { t as grid } from '../grid/messages';
import { t } from '../messages';
import { editRefusal, useProject, type Project, type Table } from '../project/frame';
import { checkRecord, fillable, guessMapping, mappedTwice, toCsv, unfilled, type Mapping, type RefusedRow, type Sheet } from './import-plan';
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

const MAX_ROWS = 250_000;

function Import({ project, table }: { project: Project; table: Table }) {
  const [picked, setPicked] = useState<Picked | null>(null);
  const [mapping, setMapping] = useState<Mapping>([]);
  const [leavesOut, setLeavesOut] = useState(false);
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const abort = useRef<AbortController | null>(null);
  const columns = useMemo(() => new Map(fillable(table.columns).map((column) => [column.name, column])), [table]);
  const written = picked?.sheet ?? null;
  const numbers = useMemo(() => (written ? readNumbers(written, mapping, columns) : null), [written, mapping, columns]);
  const sheet = numbers?.sheet ?? null;
  const checked = useMemo(() => (sheet ? checkAll(sheet, mapping, columns) : null), [sheet, mapping, columns]);
  useUnsaved(picked !== null);
  useEffect(() => () => abort.current?.abort(), []);
  const read = useAction(async (file: File, encoding: Encoding | null = null) => {
    const next = await readFile(file, encoding);
    setPicked(next);
    setMapping(next.sheet ? guessMapping(next.sheet.headers, table.columns) : []);
    setLeavesOut(false);
  }, { shows: 'inline' });
  const left = useMemo(() => new Set(leavesOut ? checked?.refused.map(({ index }) => index) : []), [leavesOut, checked]);
  const count = sheet ? sheet.records.length - left.size : null;
  const send = useAction(async () => {
    if (!picked) return;
    abort.current = new AbortController();
    setProgress({ step: 'checked', rows: 0 });
    try {
      const body = sheet ? new Blob([toCsv(sheet, mapping, columns, left)]) : picked.file;
      const { imported } = await importRows(`/v1/backend/projects/${project.id}/tables/${table.name}/import`, picked.kind, body, setProgress, abort.current.signal);
      setPicked(null);
      discardUnsaved();
      invalidate([`rows:${project.id}/${table.name}`, `project:${project.id}`]);
      toast(t('imported', { count: imported }));
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
          : (checked?.refused.length ?? 0) > 0 && !leavesOut ? t('refusedFirst')
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
      {sheet && <MappingTable sheet={sheet} mapping={mapping} table={table} onChange={setMapping} />}
      {picked !== null && sheet === null && <Notice>{t('jsonNote')}</Notice>}
      {checked && checked.refused.length > 0 && <RefusedRows refused={checked.refused} leavesOut={leavesOut} onLeaveOut={setLeavesOut} />}
      {progress !== null && <ProgressView progress={progress} count={count} />}
      {send.problem && <ProblemView problem={send.problem} />}
    </Panel>
  );
}

function checkAll(sheet: Sheet, mapping: Mapping, columns: Parameters<typeof checkRecord>[3]): { readonly refused: readonly RefusedRow[] } {
  const refused = sheet.records.flatMap((_, index) => checkRecord(sheet, index, mapping, columns) ?? []);
  return { refused };
}

const SAMPLES = 3;

function MappingTable({ sheet, mapping, table, onChange }: { sheet: Sheet; mapping: Mapping; table: Table; onChange: (mapping: Mapping) => void }) {
  const sample = (index: number) => sheet.records.slice(0, SAMPLES).map((record) => record[index] ?? 'null').join(' · ');
  return (
    <section class="data-mapping">
      <h3>{t('mapping', { count: sheet.records.length })}</h3>
      <FewRows label={t('mappingLabel')} head={[t('fileColumn'), t('sample'), t('tableColumn')]}>
        {sheet.headers.map((header, index) => (
          <tr key={index}>
            <td><b>{header === '' ? t('unnamed', { number: index + 1 }) : header}</b></td>
            <td class="data-sample"><code>{sample(index)}</code></td>
            <td>
              <select class="input select" aria-label={t('mapColumn', { name: header })} value={mapping[index] ?? ''} onChange={(event) => onChange(mapping.with(index, event.currentTarget.value === '' ? null : event.currentTarget.value))}>
                <option value="">{t('leaveOut')}</option>
                {fillable(table.columns).map(({ name, type }) => <option key={name} value={name}>{`${name} · ${grid(`type_${type}`)}`}</option>)}
              </select>
            </td>
          </tr>
        ))}
      </FewRows>
    </section>
  );
}

const MAX_SHOWN = 20;

function RefusedRows({ refused, leavesOut, onLeaveOut }: { refused: readonly RefusedRow[]; leavesOut: boolean; onLeaveOut: (leavesOut: boolean) => void }) {
  return (
    <section class="data-mapping" aria-label={t('refusedRows', { count: refused.length })}>
      <h3 class="field-error">{t('refusedRows', { count: refused.length })}</h3>
      <FewRows label={t('refusedRows', { count: refused.length })} head={[{ text: t('line'), align: 'end' }, t('column'), t('value'), t('reason')]}>
        {refused.slice(0, MAX_SHOWN).map(({ line, column, text, problem }) => (
          <tr key={line}>
            <td class="is-end">{formatNumber(line)}</td>
            <td>{column || '–'}</td>
            <td class="data-sample"><code>{text === '' ? 'null' : text.slice(0, 60)}</code></td>
            <td>{problem === 'width' ? t('problemWidth') : grid(`problem_${problem}`)}</td>
          </tr>
        ))}
      </FewRows>
      {refused.length > MAX_SHOWN && <p class="muted">{t('andMore', { count: refused.length - MAX_SHOWN })}</p>}
      <Checkbox label={t('leaveOutRefused')} checked={leavesOut} onChange={onLeaveOut} />
    </section>
  );
}

function ProgressView({ progress: { step, rows }, count }: { progress: ImportProgress; count: number | null }) {
  const label = step === 'checked' ? t('stepChecked') : t('stepWritten');
  return (
    <div class="data-progress" role="status">
      <span>{label}</span>
      {count === null ? <span>{formatNumber(rows)}</span> : <><progress value={rows} max={count} aria-label={label} /><span>{t('progressOf', { value: rows, max: count })}</span></>}
    </div>
  );
}
