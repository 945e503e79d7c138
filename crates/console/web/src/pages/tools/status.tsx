import type { Schemas } from '#api/types';
import { Status } from '#ui';
import { t } from './messages';

export function ToolStatus({ state }: { state: Schemas['AgentToolState'] }) {
  switch (state) {
    case 'live': return <Status tone="ok" icon="check">{t('state_live')}</Status>;
    case 'off': return <Status tone="neutral" icon="cross">{t('state_off')}</Status>;
    case 'needs_review': return <Status tone="warn" icon="warn">{t('state_needs_review')}</Status>;
    case 'paused': return <Status tone="neutral" icon="pause">{t('state_paused')}</Status>;
  }
}
