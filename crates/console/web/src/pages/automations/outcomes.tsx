// The latest runs of an automation as small bars.

import type { Schemas } from '#api/types';
import { Bars, RunStatus, runStatusText } from '#ui';
import { formatDateTime } from '#i18n';
import { t } from './messages';

type Run = Schemas['LatestRun'];

const SHOWN = 12;
const TONES: Readonly<Record<Run['status'], 'ok' | 'warn' | 'bad' | 'none'>> = {
  queued: 'none', running: 'none', waiting_approval: 'warn', succeeded: 'ok', failed: 'bad', blocked: 'bad',
};

/** `runs` are newest first, undefined until they are read; the bars have the newest on the right. */
export function Outcomes({ runs }: { runs: readonly Run[] | undefined }) {
  if (runs === undefined) return <span class="muted">–</span>;
  const [latest] = runs;
  if (latest === undefined) return <span class="muted">{t('neverRan')}</span>;
  const values = runs.slice(0, SHOWN).reverse().map((run) => ({ tone: TONES[run.status], title: `${runStatusText(run.status)} · ${formatDateTime(run.acceptedAt)}` }));
  return <span class="automations-outcomes"><RunStatus status={latest.status} /><Bars values={values} label={t('latestRuns', { count: values.length })} /></span>;
}
