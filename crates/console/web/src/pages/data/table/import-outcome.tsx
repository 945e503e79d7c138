// The rows of a file that do not fit, and how far their import has come.

import { formatNumber } from '#i18n';
import { Checkbox, Table as FewRows } from '#ui';
import { t as grid } from '../grid/messages';
import { t } from '../messages';
import type { RefusedRow } from './import-plan';
import type { ImportProgress } from './import-request';

const MAX_SHOWN = 20;

interface RefusedRowsProps {
  readonly refused: readonly RefusedRow[];
  readonly leavesOut: boolean;
  readonly onLeaveOut: (leavesOut: boolean) => void;
  /** Names a column of the mapping. */
  readonly nameOf?: (column: string) => string;
}

export function RefusedRows({ refused, leavesOut, onLeaveOut, nameOf = (column) => column }: RefusedRowsProps) {
  return (
    <section class="data-mapping" aria-label={t('refusedRows', { count: refused.length })}>
      <h3 class="field-error">{t('refusedRows', { count: refused.length })}</h3>
      <FewRows label={t('refusedRows', { count: refused.length })} head={[{ text: t('line'), align: 'end' }, t('column'), t('value'), t('reason')]}>
        {refused.slice(0, MAX_SHOWN).map(({ line, column, text, problem }) => (
          <tr key={line}>
            <td class="is-end">{formatNumber(line)}</td>
            <td>{column === '' ? '–' : nameOf(column)}</td>
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

export function ProgressView({ progress: { step, rows }, count }: { progress: ImportProgress; count: number | null }) {
  const label = step === 'checked' ? t('stepChecked') : t('stepWritten');
  return (
    <div class="data-progress" role="status">
      <span>{label}</span>
      {count === null ? <span>{formatNumber(rows)}</span> : <><progress value={rows} max={count} aria-label={label} /><span>{t('progressOf', { value: rows, max: count })}</span></>}
    </div>
  );
}
