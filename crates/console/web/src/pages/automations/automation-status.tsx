import type { Schemas } from '#api/types';
import { Status, type IconName, type Tone } from '#ui';
import { t } from './messages';

type Name = Schemas['AutomationStatus'];

const SHAPES: Readonly<Record<Name, readonly [Tone, IconName]>> = { active: ['ok', 'play'], paused: ['neutral', 'pause'], draft: ['neutral', 'edit'] };

export function automationStatusText(status: Name): string {
  return t(`status_${status}`);
}

export function AutomationStatus({ status }: { status: Name }) {
  const [tone, icon] = SHAPES[status];
  return <Status tone={tone} icon={icon}>{automationStatusText(status)}</Status>;
}
