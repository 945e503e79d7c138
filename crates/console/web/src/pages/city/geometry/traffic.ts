// How many runs are shown travelling: a few a second, and the rest as a number.

/** Most runs that set out in a second. */
export const MAX_PER_SECOND = 20;
const SECOND = 1_000;

/** Lets through at most `MAX_PER_SECOND` in any second, and counts what it holds back. */
export class Traffic {
  private times: number[] = [];
  private held: number[] = [];

  /** Whether a run that comes now may be shown. */
  admit(now: number): boolean {
    this.times = this.times.filter((time) => now - time < SECOND);
    if (this.times.length < MAX_PER_SECOND) {
      this.times.push(now);
      return true;
    }
    this.held.push(now);
    return false;
  }

  /** Number of runs of the last second that were not shown. */
  heldBack(now: number): number {
    this.held = this.held.filter((time) => now - time < SECOND);
    return this.held.length;
  }
}
