// The state of an app. Green is said only of what was seen to work within a week; what is not known is grey.

import { daysSince, shownState, type AppHealth, type ShownState } from './app-state';
import { Badge, Status, type Tone } from './status';
import type { IconName } from './icon';
import { t } from './messages';
import { now } from './time';

const LOOKS: Readonly<Record<ShownState, readonly [Tone, IconName]>> = {
  healthy: ['ok', 'check'], warning: ['warn', 'warn'], failing: ['bad', 'cross'], paused: ['neutral', 'pause'], draft: ['neutral', 'ring'], building: ['info', 'arc'],
  running: ['info', 'arc'], unseen: ['neutral', 'ring'], stale: ['neutral', 'ring'],
};

/** Returns the word for the state of an app. */
export function appStatusText(app: AppHealth): string {
  const shown = shownState(app, now.value);
  if (shown === 'stale') return t('app_stale', { count: daysSince(app.observedAt ?? '', now.value) });
  return t(`app_${shown}`);
}

/** Returns the reasons why an app is not healthy, as sentences. */
export function appReasons({ statusReasons }: Pick<AppHealth, 'statusReasons'>): string[] {
  return statusReasons.map(({ code, count }) => t(`reason_${code}`, { count }));
}

/** The state of an app, with how many questions of its runs wait for somebody. Why it is not healthy is in the tooltip. */
export function AppStatus({ app, ws }: { app: AppHealth; ws?: string }) {
  const [tone, icon] = LOOKS[shownState(app, now.value)];
  const reasons = appReasons(app).join(' ');
  const questions = t('appQuestions', { count: app.waitingApprovals });
  return (
    <span class="app-status">
      <span title={reasons || undefined}><Status tone={tone} icon={icon}>{appStatusText(app)}</Status></span>
      {app.waitingApprovals > 0 && (ws === undefined ? <Badge tone="ask">{questions}</Badge> : <a href={`/w/${ws}/queue`}><Badge tone="ask">{questions}</Badge></a>)}
    </span>
  );
}
