let known: readonly string[] | null = null;

/** Returns the time zones that the browser knows, and `current` with them. */
export function timeZones(current: string): readonly string[] {
  known ??= [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].sort();
  return known.includes(current) ? known : [current, ...known];
}
