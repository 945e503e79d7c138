// States of an app and of a version, in words.

import type { Schemas } from '#api/types';
import { Badge, Status, type IconName, type KnownState, type Tone } from '#ui';
import { t } from './messages';

type Band = Schemas['TrustBand'];

export const APP_STATES: readonly KnownState[] = ['healthy', 'unobserved', 'warning', 'failing', 'paused', 'draft', 'building'];
export const CATEGORIES: readonly Schemas['Category'][] = ['interface', 'data', 'messaging', 'money', 'ai', 'time', 'people', 'growth'];
export const SHARINGS: readonly Schemas['Sharing'][] = ['private', 'team', 'workspace'];
/** Buildings that the city draws. Any other name is drawn as a house. */
export const ARCHETYPES = ['workshop', 'kiosk', 'tower', 'warehouse', 'bank', 'townhall', 'clocktower', 'printhouse', 'house'] as const;

const BANDS: Readonly<Record<Band, readonly [Tone, IconName]>> = { pass: ['ok', 'check'], review: ['warn', 'eye'], fail: ['bad', 'warn'] };

/** How far a version can be trusted: its score and what that means. */
export function Trust({ score, band }: { score: number; band: Band }) {
  const [tone, icon] = BANDS[band];
  return <Status tone={tone} icon={icon}>{t('trustOf', { score, band: t(`band_${band}`) })}</Status>;
}

export function Current() {
  return <Badge tone="info">{t('current')}</Badge>;
}

/** Returns the word for a building; a name that the console does not know stays as it is. */
export function archetypeText(archetype: string): string {
  return t.find(`archetype_${archetype}`) ?? archetype;
}
