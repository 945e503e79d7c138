// What is known of a connection. Green is only what was seen to work.

import { signal } from '@preact/signals';
import type { Schemas } from '#api/types';
import { formatDuration, formatNumber } from '#i18n';
import { Status, type IconName, type Tone } from '#ui';
import { t } from './messages';
import type { Connection } from './use-connections';

const LOOKS: Readonly<Record<Exclude<Schemas['ConnectionStatus'], 'connected'>, readonly [Tone, IconName]>> = {
  expired: ['warn', 'clock'], error: ['bad', 'warn'], disconnected: ['neutral', 'ring'],
};

type Check = Pick<Schemas['ConnectionCheck'], 'ok' | 'checked' | 'status' | 'latencyMs' | 'reason'>;

/** Results of tests of this page, until the list is read again. */
const tested = signal<ReadonlyMap<string, Check>>(new Map());

/** Remembers the result of a test. */
export function rememberTest(id: string, { ok, checked, status, latencyMs, reason }: Schemas['ConnectionTest']): void {
  tested.value = new Map(tested.peek()).set(id, { ok, checked, status, latencyMs, reason });
}

function lastCheckOf({ id, lastCheck }: Connection): Check | null {
  const check = lastCheck ?? tested.value.get(id) ?? null;
  // A secret of the right form has not been tried.
  return check?.checked === 'format' && check.ok === true ? null : check;
}

/** The status of a connection. That its gate is closed comes before that it is connected. */
export function ConnectionStatus({ connection }: { connection: Connection }) {
  const { status, gate, health } = connection;
  if (status === 'connected' && gate === 'closed') return <Status tone="bad" icon="lock">{t('gateClosed')}</Status>;
  if (status !== 'connected') {
    const [tone, icon] = LOOKS[status];
    return <Status tone={tone} icon={icon}>{t(`status_${status}`)}</Status>;
  }
  const check = lastCheckOf(connection);
  if (check !== null && check.ok !== true) return <Status tone="bad" icon="warn">{check.ok === null ? t('notReached') : t('checkFailed')}</Status>;
  if (check !== null) return <Status tone="ok" icon="check">{wordsOf(check)}</Status>;
  if (health.calls24h > health.errors24h) return <Status tone="ok" icon="check">{t('works')}</Status>;
  if (health.errors24h > 0) return <Status tone="bad" icon="warn">{t('callsFail')}</Status>;
  return <Status tone="neutral" icon="ring">{t('notTried')}</Status>;
}

function wordsOf({ status, latencyMs }: Check): string {
  if (status === null || latencyMs === null) return t('works');
  return t('worksAs', { status: formatNumber(status), duration: formatDuration(latencyMs) });
}
