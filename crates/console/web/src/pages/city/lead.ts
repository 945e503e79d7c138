// What the overview says first of the workspace: the gravest that is known, and that all is well only if every active app was seen to work.

import type { Schemas } from '#api/types';

export type Lead =
  | { readonly kind: 'questions' | 'failing' | 'letters' | 'warning' | 'running' | 'paused' | 'drafts' | 'inactive'; readonly count: number }
  /** Active apps that were not seen to work within seven days, of how many. */
  | { readonly kind: 'unobserved'; readonly quiet: number; readonly count: number }
  | { readonly kind: 'calm' };

/** Returns what to say, or `null` if nothing is known of any app. `running` is the number of apps that are executing a run. */
export function leadOf({ waitingApprovals, deadLetters, apps }: Pick<Schemas['Overview'], 'waitingApprovals' | 'deadLetters' | 'apps'>, running: number): Lead | null {
  const { total, paused, healthy, unobserved, failing, warning } = apps;
  if (waitingApprovals > 0) return { kind: 'questions', count: waitingApprovals };
  if (failing > 0) return { kind: 'failing', count: failing };
  if (deadLetters > 0) return { kind: 'letters', count: deadLetters };
  if (warning > 0) return { kind: 'warning', count: warning };
  if (running > 0) return { kind: 'running', count: running };
  if (total === 0) return null;
  if (unobserved > 0) return { kind: 'unobserved', quiet: unobserved, count: healthy };
  if (healthy > 0) return { kind: 'calm' };
  if (paused === total) return { kind: 'paused', count: total };
  return { kind: paused === 0 ? 'drafts' : 'inactive', count: total };
}
