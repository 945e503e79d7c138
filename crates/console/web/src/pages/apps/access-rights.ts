// Rights of single people as one choice: each level has what the ones before it have.

import type { Right } from './app-page';

export type Level = 'view' | 'run' | 'edit' | 'share';

const LEVELS: Readonly<Record<Level, readonly Right[]>> = {
  view: ['can_view'],
  run: ['can_view', 'can_run'],
  edit: ['can_view', 'can_run', 'can_edit'],
  share: ['can_view', 'can_run', 'can_edit', 'can_share'],
};

export const LEVEL_NAMES = Object.keys(LEVELS) as readonly Level[];

export function rightsOf(level: Level): Right[] {
  return [...LEVELS[level]];
}

/** Returns the level with exactly these rights, or `null`: the API can grant others. */
export function levelOf(rights: readonly Right[]): Level | null {
  return LEVEL_NAMES.find((level) => LEVELS[level].length === rights.length && LEVELS[level].every((right) => rights.includes(right))) ?? null;
}
