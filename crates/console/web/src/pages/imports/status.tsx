// Words, shapes and colours of imports: their state, the tool that they come from, the grades of their steps.

import type { Schemas } from '#api/types';
import { formatNumber } from '#i18n';
import { Status, type IconName, type Tone } from '#ui';
import { t } from './messages';

export type Grade = Schemas['ImportGrade'];
export type Totals = Schemas['ImportTotals'];

/** Grades from the best to what does nothing. */
export const GRADES = ['exact', 'partial', 'unsupported', 'ignored'] as const satisfies readonly Grade[];

const GRADE: Readonly<Record<Grade, readonly [Tone, IconName]>> = { exact: ['ok', 'check'], partial: ['warn', 'bar'], unsupported: ['bad', 'cross'], ignored: ['neutral', 'ring'] };

/** Names of the tools, which are the same in all languages. */
const TOOLS: Readonly<Record<Schemas['ImportFormat'], string>> = { workflow_a: 'n8n', workflow_b: 'Make', workflow_c: 'Node-RED' };

export function toolOf(format: Schemas['ImportFormat']): string {
  return TOOLS[format];
}

export function ImportStatus({ status }: { status: Schemas['ImportStatus'] }) {
  switch (status) {
    case 'review': return <Status tone="ask" icon="hand">{t('status_review')}</Status>;
    case 'enabled': return <Status tone="ok" icon="check">{t('status_enabled')}</Status>;
    case 'discarded': return <Status tone="neutral" icon="cross">{t('status_discarded')}</Status>;
  }
}

export function GradeStatus({ grade }: { grade: Grade }) {
  const [tone, icon] = GRADE[grade];
  return <Status tone={tone} icon={icon}>{t(`grade_${grade}`)}</Status>;
}

/** Numbers of steps by grade, and the bar that they make. */
export function Grades({ totals }: { totals: Totals }) {
  const shown = GRADES.filter((grade) => totals[grade] > 0);
  const before = (grade: Grade) => GRADES.slice(0, GRADES.indexOf(grade)).reduce((sum, earlier) => sum + totals[earlier], 0);
  return (
    <span class="imports-grades">
      <svg class="imports-bar" viewBox={`0 0 ${Math.max(1, totals.steps)} 1`} preserveAspectRatio="none" aria-hidden="true">
        {shown.map((grade) => <rect key={grade} class={`tone-${GRADE[grade][0]}`} x={before(grade)} width={totals[grade]} height={1} />)}
      </svg>
      <span class="muted">{shown.map((grade) => t(`count_${grade}`, { number: formatNumber(totals[grade]) })).join(', ')}</span>
    </span>
  );
}
