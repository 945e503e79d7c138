// What is known of a connection. Green is only what was seen to work.

import type { Schemas } from '#api/types';
import { formatDuration, formatNumber } from '#i18n';
import { Status, Time, now, type IconName, type Tone } from '#ui';
import { t } from './messages';
import type { Connection } from './use-connections';
import { verdictOf, type Verdict } from './verdict';

type Look = readonly [Tone, IconName];

const LOOKS: Readonly<Record<Exclude<Schemas['ConnectionStatus'], 'connected'>, Look>> = {
  expired: ['warn', 'clock'], error: ['bad', 'warn'], disconnected: ['neutral', 'ring'],
};
const VERDICTS: Readonly<Record<Exclude<Verdict['kind'], 'calls'>, Look>> = {
  works: ['ok', 'check'], worked: ['neutral', 'clock'], failed: ['bad', 'warn'], unreached: ['bad', 'warn'], untried: ['neutral', 'ring'],
};

/** The status of a connection. That its gate is closed comes before that it is connected. */
export function ConnectionStatus({ connection }: { connection: Connection }) {
  const { status, gate } = connection;
  if (status === 'connected' && gate === 'closed') return <Status tone="bad" icon="lock">{t('gateClosed')}</Status>;
  if (status !== 'connected') {
    const [tone, icon] = LOOKS[status];
    return <Status tone={tone} icon={icon}>{t(`status_${status}`)}</Status>;
  }
  const verdict = verdictOf(connection, now.value);
  const [tone, icon] = lookOf(verdict);
  return (
    <span class="connections-status">
      <Status tone={tone} icon={icon}>{wordsOf(verdict)}</Status>
      {'check' in verdict && <small class="muted">{t.rich('testedAt', { when: <Time at={verdict.check.at} /> })}</small>}
    </span>
  );
}

function lookOf(verdict: Verdict): Look {
  if (verdict.kind !== 'calls') return VERDICTS[verdict.kind];
  const { failed, all } = verdict;
  if (failed === 0) return ['neutral', 'ring'];
  return failed < all ? ['warn', 'warn'] : ['bad', 'warn'];
}

function wordsOf(verdict: Verdict): string {
  if (verdict.kind === 'calls') return t('failedOf', { failed: verdict.failed, count: verdict.all });
  if (verdict.kind === 'works' || verdict.kind === 'worked') {
    const { status, latencyMs } = verdict.check;
    if (status !== null && latencyMs !== null) return t(`as_${verdict.kind}`, { status: formatNumber(status), duration: formatDuration(latencyMs) });
  }
  return t(`verdict_${verdict.kind}`);
}
