// Browsers and systems by their own description.

const BROWSERS: readonly (readonly [RegExp, string])[] = [[/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/YaBrowser\//, 'Yandex Browser'], [/Firefox\//, 'Firefox'], [/Chrome\//, 'Chrome'], [/Safari\//, 'Safari']];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [[/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS X/, 'macOS'], [/CrOS/, 'ChromeOS'], [/Linux/, 'Linux']];

/** Returns a short name for what a browser says of itself: `Firefox · Windows`. Unknown programs keep their own words. */
export function deviceText(device: string | null): string | null {
  if (device === null) return null;
  const known = [BROWSERS, SYSTEMS].flatMap((names) => names.find(([pattern]) => pattern.test(device))?.[1] ?? []);
  return known.length > 0 ? known.join(' · ') : device;
}
