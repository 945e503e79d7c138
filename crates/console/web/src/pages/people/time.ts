/** Returns a time as an input of local time has it: `2026-11-24T14:20`. */
export function localInput(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
