// Words for what the page shows.

import { formatRelative } from '#i18n';
import { appReasons, appStatusText, runStatusText } from '#ui';
import type { Fact } from './facts';
import { t } from './messages';

/** Returns the page of an app or a project. */
export function hrefOf(ws: string, { type, id }: Pick<Fact, 'type' | 'id'>): string {
  return type === 'app' ? `/w/${ws}/apps/${id}` : `/w/${ws}/data/${id}`;
}

/** Returns everything that a building shows, for people who do not see it. */
export function sentenceOf(fact: Fact): string {
  if (fact.type === 'project') return t('projectSentence', { name: fact.name, tables: t('tables', { count: fact.tables }) });
  const run = fact.lastRun === null ? (fact.hasAllRuns ? [t('noRuns')] : []) : [t('lastRunSentence', { status: runStatusText(fact.lastRun.status), when: formatRelative(fact.lastRun.at) })];
  const parts = [fact.name, appStatusText(fact.health), ...run, ...(fact.deadLetters > 0 ? [t('openDeadLetters', { count: fact.deadLetters })] : []), ...(fact.questions > 0 ? [t('leadQuestions', { count: fact.questions })] : []), ...appReasons({ statusReasons: fact.health.statusReasons.filter(({ code }) => code !== 'dead_letters') })];
  return parts.join(', ');
}
