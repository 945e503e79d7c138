// The steps of a run along its time, each with what the gate decided.

import type { Signal } from '@preact/signals';
import type { Schemas } from '#api/types';
import { formatDuration, formatList } from '#i18n';
import { Icon, type IconName, type Tone } from '#ui';
import { t } from './messages';

type Run = Schemas['Run'];
type Step = Schemas['RunStep'];
type Decision = Schemas['GateDecision'];

const SHAPES: Readonly<Record<Step['status'], readonly [Tone, IconName]>> = {
  pending: ['neutral', 'ring'], running: ['info', 'arc'], ok: ['ok', 'check'], waiting: ['ask', 'hand'], failed: ['bad', 'cross'], blocked: ['bad', 'shield'], skipped: ['neutral', 'minus'],
};

const time = (at: string | null) => (at === null ? null : Date.parse(at));
/** Milliseconds by which a line may be logged after the step that it is about. */
const TOLERANCE = 20;

/** Returns the index of the step to which a line of the log belongs: the last that had begun, if it had not long ended. */
export function stepOfLine(steps: readonly Step[], at: string): number {
  const when = Date.parse(at);
  const covers = (step: Step) => {
    const from = time(step.startedAt);
    return from !== null && from <= when && when <= from + (step.durationMs ?? Infinity) + TOLERANCE;
  };
  return steps.findLastIndex(covers);
}

/** Gives each step of a call the gate's decision about it: the first of the same call that no earlier step has. */
function decisionsOf(steps: readonly Step[], gate: readonly Decision[]): readonly (Decision | null)[] {
  const rest = [...gate];
  return steps.map((step) => {
    const index = rest.findIndex(({ method, host }) => step.label.startsWith(`${method} ${host ?? ''}`));
    return index < 0 ? null : (rest.splice(index, 1)[0] ?? null);
  });
}

export function Timeline({ run, gate, pointed }: { run: Run; gate: readonly Decision[]; pointed: Signal<number | null> }) {
  const decisions = decisionsOf(run.steps, gate);
  const start = Math.min(...run.steps.flatMap((step) => time(step.startedAt) ?? []));
  const end = Math.max(start + 1, ...run.steps.flatMap((step) => (time(step.startedAt) ?? start) + (step.durationMs ?? 0)), time(run.finishedAt) ?? start);
  if (run.steps.length === 0) return <p class="card-body muted">{t('noSteps')}</p>;
  return (
    <ol class="timeline">
      {run.steps.map((step, index) => (
        <li
          key={step.index} class={`step tone-${SHAPES[step.status][0]} ${pointed.value === index && index > 0 ? 'is-marked' : ''}`}
          onPointerEnter={() => { pointed.value = index; }} onPointerLeave={() => { pointed.value = null; }}
        >
          <Icon name={SHAPES[step.status][1]} />
          <span class="step-label">{step.label}<span class="hidden-text">, {t(`step_${step.status}`)}</span></span>
          <span class="step-time">{step.durationMs !== null && formatDuration(step.durationMs)}</span>
          <Bar step={step} start={start} end={end} />
          <StepDetail step={step} decision={decisions[index] ?? null} />
        </li>
      ))}
    </ol>
  );
}

/** Where the step lies in the time of the run. */
function Bar({ step, start, end }: { step: Step; start: number; end: number }) {
  const from = time(step.startedAt);
  if (from === null) return null;
  const left = ((from - start) / (end - start)) * 100;
  const width = Math.max(1, ((step.durationMs ?? end - from) / (end - start)) * 100);
  return (
    <svg class="step-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="4" class="track" /><rect x={Math.min(left, 99)} width={Math.min(width, 100 - Math.min(left, 99))} height="4" class="value" />
    </svg>
  );
}

function StepDetail({ step, decision }: { step: Step; decision: Decision | null }) {
  if (decision === null) return step.detail === null ? null : <p class="step-detail">{step.detail}</p>;
  const parts = [
    decision.status === null ? null : String(decision.status),
    decision.connection === null ? null : t('gateConnection', { name: decision.connection }),
    decision.reason,
  ].filter((part) => part !== null);
  const words = decision.decision === 'allowed' ? t('gateAllowed') : t('gateRefused');
  return <p class="step-detail">{parts.length === 0 ? words : t('gateWith', { decision: words, details: formatList(parts) })}</p>;
}
