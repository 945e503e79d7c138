// The state of an app. Green is said only of what was seen to work within a week; what is not known is grey.

import type { Schemas } from '#api/types';
import { Badge, Status, type Tone } from './status';
import type { IconName } from './icon';
import { t } from './messages';
import { now } from './time';

/** What a page knows of an app's state. */
export interface AppHealth extends Pick<Schemas['App'], 'status' | 'statusReasons' | 'observedAt' | 'waitingApprovals'> {
  /** Runs of it that go on, where the page follows them. */
  readonly running?: number;
}

const DAY = 86_400_000;
/** What worked longer ago than this says nothing of today. */
const FRESH = 7 * DAY;

type Shown = Schemas['AppStatus'] | 'running' | 'never' | 'quiet';

const LOOKS: Readonly<Record<Shown, readonly [Tone, IconName]>> = {
  healthy: ['ok', 'check'], warning: ['warn', 'warn'], failing: ['bad', 'cross'], paused: ['neutral', 'pause'], draft: ['neutral', 'ring'], building: ['info', 'arc'],
  running: ['info', 'arc'], never: ['neutral', 'ring'], quiet: ['neutral', 'ring'],
};

function shownOf({ status, observedAt, running = 0 }: AppHealth, at: number): Shown {
  if (running > 0 && (status === 'healthy' || status === 'draft')) return 'running';
  if (status !== 'healthy') return status;
  if (observedAt === null) return 'never';
  return at - Date.parse(observedAt) < FRESH ? 'healthy' : 'quiet';
}

/** Returns the word for the state of an app. */
export function appStatusText(app: AppHealth): string {
  const shown = shownOf(app, now.value);
  if (shown === 'quiet') return t('app_quiet', { count: Math.floor((now.value - Date.parse(app.observedAt ?? '')) / DAY) });
  return t(`app_${shown}`);
}

/** Returns the reasons why an app is not healthy, as sentences. */
export function appReasons({ statusReasons }: Pick<AppHealth, 'statusReasons'>): string[] {
  return statusReasons.map(({ code, count }) => t(`reason_${code}`, { count }));
}

/** The state of an app, with how many questions of its runs wait for somebody. Why it is not healthy is in the tooltip. */
export function AppStatus({ app, ws }: { app: AppHealth; ws?: string }) {
  const [tone, icon] = LOOKS[shownOf(app, now.value)];
  const reasons = appReasons(app).join(' ');
  const questions = t('appQuestions', { count: app.waitingApprovals });
  return (
    <span class="app-status">
      <span title={reasons || undefined}><Status tone={tone} icon={icon}>{appStatusText(app)}</Status></span>
      {app.waitingApprovals > 0 && (ws === undefined ? <Badge tone="ask">{questions}</Badge> : <a href={`/w/${ws}/queue`}><Badge tone="ask">{questions}</Badge></a>)}
    </span>
  );
}
