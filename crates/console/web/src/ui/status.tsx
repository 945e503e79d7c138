// States: always a shape, a word and a colour together.

import type { ComponentChildren } from 'preact';
import type { Schemas } from '#api/types';
import { Icon, type IconName } from './icon';
import { t } from './messages';

export type Tone = 'neutral' | 'ok' | 'warn' | 'bad' | 'info' | 'ask';

export function Status({ tone, icon, children }: { tone: Tone; icon: IconName; children: ComponentChildren }) {
  return <span class={`status tone-${tone}`}><Icon name={icon} /><span>{children}</span></span>;
}

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}

type RunStatusName = Schemas['RunStatus'];

const RUN: Readonly<Record<RunStatusName, readonly [Tone, IconName]>> = {
  queued: ['neutral', 'ring'], running: ['info', 'arc'], waiting_approval: ['ask', 'hand'], succeeded: ['ok', 'check'], failed: ['bad', 'cross'], blocked: ['bad', 'shield'],
};

/** Returns the word for the status of a run. */
export function runStatusText(status: RunStatusName): string {
  return t(`run_${status}`);
}

export function runTone(status: RunStatusName): Tone {
  return RUN[status][0];
}

export function RunStatus({ status }: { status: RunStatusName }) {
  const [tone, icon] = RUN[status];
  return <Status tone={tone} icon={icon}>{runStatusText(status)}</Status>;
}

/** Returns the word for what starts an automation. */
export function triggerText(trigger: Schemas['TriggerKind']): string {
  return t(`trigger_${trigger}`);
}

/** Says who or what started a run: the agent that asked for it, rather than that it was started by hand. */
export function starterText({ askedBy, trigger }: Pick<Schemas['RunSummary'], 'askedBy' | 'trigger'>): string {
  return askedBy === null ? triggerText(trigger) : t('agentNamed', { name: askedBy.clientName ?? askedBy.grantId });
}
