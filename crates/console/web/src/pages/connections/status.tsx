import type { Schemas } from '#api/types';
import { Status, type IconName, type Tone } from '#ui';
import { t } from './messages';
import type { Connection } from './use-connections';

const LOOKS: Readonly<Record<Schemas['ConnectionStatus'], readonly [Tone, IconName]>> = {
  connected: ['ok', 'check'], expired: ['warn', 'clock'], error: ['bad', 'warn'], disconnected: ['neutral', 'ring'],
};

/** The status of a connection. That its gate is closed comes before that it is connected. */
export function ConnectionStatus({ connection: { status, gate } }: { connection: Connection }) {
  if (status === 'connected' && gate === 'closed') return <Status tone="bad" icon="lock">{t('gateClosed')}</Status>;
  const [tone, icon] = LOOKS[status];
  return <Status tone={tone} icon={icon}>{t(`status_${status}`)}</Status>;
}
