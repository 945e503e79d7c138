import type { Schemas } from '#api/types';
import { Status } from '#ui';
import { t } from './messages';

export function GateStatus({ status }: { status: Schemas['GateStatus'] }) {
  return status === 'open' ? <Status tone="ok" icon="check">{t('status_open')}</Status> : <Status tone="bad" icon="lock">{t('status_closed')}</Status>;
}
