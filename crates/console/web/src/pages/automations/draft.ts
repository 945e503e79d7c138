// What the form of an automation holds, and the request that it becomes.

import type { Schemas } from '#api/types';
import { cronMistakeText } from './cron-mistake';
import { cronMistake } from './cron';
import { t } from './messages';

type Automation = Schemas['Automation'];
type Trigger = Schemas['Trigger'];

export interface Draft {
  readonly name: string;
  readonly appId: string;
  readonly type: Trigger['type'];
  readonly cron: string;
  readonly timezone: string;
  readonly catchUp: Schemas['CatchUp'];
  readonly catchUpMinutes: string;
  readonly overlap: Schemas['Overlap'];
  readonly event: string;
  readonly retries: string;
  readonly maxConcurrency: string;
}

const WEEK = 10_080;
const MAX_CATCH_UP = 43_200;
const NOT_SCHEDULED = { catchUp: null, catchUpMinutes: null, overlap: null };

export function newDraft(appId: string): Draft {
  const timezone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { name: '', appId, type: 'schedule', cron: '0 9 * * *', timezone, catchUp: 'last', catchUpMinutes: String(WEEK), overlap: 'allow', event: '', retries: '0', maxConcurrency: '' };
}

export function draftOf({ name, appId, trigger, retries, maxConcurrency }: Automation): Draft {
  return {
    name, appId,
    type: trigger.type,
    cron: trigger.cron ?? '0 9 * * *',
    timezone: trigger.timezone ?? 'UTC',
    catchUp: trigger.catchUp ?? 'last',
    catchUpMinutes: String(trigger.catchUpMinutes ?? WEEK),
    overlap: trigger.overlap ?? 'allow',
    event: trigger.event ?? '',
    retries: String(retries),
    maxConcurrency: maxConcurrency === null ? '' : String(maxConcurrency),
  };
}

function triggerOf({ type, cron, timezone, catchUp, catchUpMinutes, overlap, event }: Draft): Trigger {
  if (type === 'schedule') return { type, cron: cron.trim(), timezone, catchUp, catchUpMinutes: Number(catchUpMinutes), overlap };
  if (type === 'event') return { type, event: event.trim(), ...NOT_SCHEDULED };
  return { type, ...NOT_SCHEDULED };
}

/** Returns the members that creating and changing have in common. */
export function bodyOf(draft: Draft) {
  return {
    name: draft.name.trim(),
    trigger: triggerOf(draft),
    retries: Number(draft.retries),
    maxConcurrency: draft.maxConcurrency.trim() === '' ? null : Number(draft.maxConcurrency),
  };
}

function isWithin(text: string, from: number, to: number): boolean {
  const value = Number(text);
  return text.trim() !== '' && Number.isInteger(value) && value >= from && value <= to;
}

export type Mistakes = { readonly [K in keyof Draft]?: string };

/** Returns what is wrong with each field, as far as it can be told without the server. */
export function mistakesOf(draft: Draft): Mistakes {
  const isScheduled = draft.type === 'schedule';
  return {
    ...(draft.name.trim() === '' && { name: t('needsName') }),
    ...(draft.appId === '' && { appId: t('needsApp') }),
    ...(isScheduled && cronMistake(draft.cron) !== null && { cron: cronMistakeText(draft.cron) }),
    ...(isScheduled && draft.catchUp !== 'none' && !isWithin(draft.catchUpMinutes, 1, MAX_CATCH_UP) && { catchUpMinutes: t('between', { from: 1, to: MAX_CATCH_UP }) }),
    ...(draft.type === 'event' && draft.event.trim() === '' && { event: t('needsEvent') }),
    ...(!isWithin(draft.retries, 0, 5) && { retries: t('between', { from: 0, to: 5 }) }),
    ...(draft.maxConcurrency.trim() !== '' && !isWithin(draft.maxConcurrency, 1, 1_000) && { maxConcurrency: t('between', { from: 1, to: 1_000 }) }),
  };
}
