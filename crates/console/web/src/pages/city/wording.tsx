// Words for what the page shows.

import { formatRelative } from '#i18n';
import { Status, runStatusText, type Tone } from '#ui';
import type { ComponentProps } from 'preact';
import type { AppState, Fact } from './facts';
import { t } from './messages';

type StatusIcon = ComponentProps<typeof Status>['icon'];

const STATES: Readonly<Record<AppState, readonly [Tone, StatusIcon]>> = {
  paused: ['neutral', 'pause'], failing: ['bad', 'cross'], warning: ['warn', 'warn'], running: ['info', 'arc'], building: ['info', 'arc'], draft: ['neutral', 'ring'], healthy: ['ok', 'check'],
};

export function AppStatus({ state }: { state: AppState }) {
  const [tone, icon] = STATES[state];
  return <Status tone={tone} icon={icon}>{t(`state_${state}`)}</Status>;
}

/** Returns the page of an app or a project. */
export function hrefOf(ws: string, { type, id }: Pick<Fact, 'type' | 'id'>): string {
  return type === 'app' ? `/w/${ws}/apps/${id}` : `/w/${ws}/data/${id}`;
}

/** Returns everything that a building shows, for people who do not see it. */
export function sentenceOf(fact: Fact): string {
  if (fact.type === 'project') return t('projectSentence', { name: fact.name, tables: t('tables', { count: fact.tables }) });
  const run = fact.lastRun === null ? t('neverRun') : t('lastRunSentence', { status: runStatusText(fact.lastRun.status), when: formatRelative(fact.lastRun.at) });
  const parts = [fact.name, t(`state_${fact.state}`), run, ...(fact.deadLetters > 0 ? [t('openDeadLetters', { count: fact.deadLetters })] : [])];
  return parts.join(', ');
}
