// Work that would be lost: the person is asked before they leave it, and what they typed is kept in this browser.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { confirm } from '#ui/confirm';
import { forget, keep, keptName, readKept } from './kept';
import { t } from './messages';
import type { Seen } from './seen';
import { toast } from './toasts';

/** What a form keeps in this browser while it is not saved. */
export interface Keeping<V> {
  /** Tells the forms of one address apart. */
  readonly form: string;
  /** What was entered, without secrets. */
  readonly value: V;
  /** Puts it back into the form. */
  readonly restore: (value: V) => void;
  /** Whether the person may leave without a question, as what they entered is kept anyway. */
  readonly isQuiet?: boolean;
  /** What the form edits, if it is something that is saved already. */
  readonly seen?: Seen;
}

export interface Unsaved {
  /** Forgets the work of this form, after it was saved or given up. */
  discard(): void;
}

/** Time after the last change until it is kept. */
const PAUSE = 300;

/** The unsaved work of one form. */
class Work implements Unsaved {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private pending: (() => boolean) | null = null;
  isDirty = false;
  /** Whether this browser has what was entered, as of the last `flush`. */
  isKept = false;

  constructor(readonly name: string | null, readonly isQuiet: boolean) {}

  enter(value: unknown, base: string | null): void {
    this.isDirty = true;
    const { name } = this;
    if (name === null) return;
    this.pending = () => keep(name, value, base);
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.pending !== null) this.isKept = this.pending();
    this.pending = null;
  }

  discard(): void {
    this.pending = null;
    this.flush();
    this.isDirty = this.isKept = false;
    if (this.name !== null) forget(this.name);
  }
}

const works = new Set<Work>();
/** Whether the page is left on purpose, and nothing is lost: what is typed is kept. */
let isLeaving = false;

/** Whether the page has work that is not saved. */
export const mayBeLost = () => [...works].some((work) => work.isDirty && !work.isQuiet);

window.addEventListener('beforeunload', (event) => {
  if (mayBeLost() && !isLeaving) event.preventDefault();
});
// A browser may end a page without another word once it is hidden.
for (const event of ['pagehide', 'visibilitychange', 'freeze']) {
  window.addEventListener(event, () => { for (const work of works) work.flush(); });
}

/**
 * Asks before the person leaves, as long as `isDirty`. With `keeping`, what they entered outlives the page: after a crash, or once
 * they have signed in again, the form has it back.
 */
export function useUnsaved<V>(isDirty: boolean, keeping?: Keeping<V>): Unsaved {
  const work = useMemo(() => new Work(keeping === undefined ? null : keptName(keeping.form), keeping?.isQuiet ?? false), []);
  const latest = useRef(keeping);
  latest.current = keeping;
  const value = isDirty && keeping !== undefined ? JSON.stringify(keeping.value) : null;
  useEffect(() => {
    works.add(work);
    const kept = work.name === null ? null : readKept(work.name);
    if (kept !== null && keeping !== undefined && !isDirty) {
      const before = keeping.value;
      if (kept.base !== null) keeping.seen?.resume(kept.base);
      keeping.restore(kept.value as V);
      toast(t('unsavedRestored'), { action: { label: t('unsavedDiscard'), run: () => { work.discard(); latest.current?.restore(before); } } });
    }
    return () => {
      work.flush();
      works.delete(work);
    };
  }, []);
  useEffect(() => {
    if (isDirty) work.enter(latest.current?.value, latest.current?.seen?.base() ?? null);
    else if (work.isDirty) work.discard();
  }, [isDirty, value]);
  return work;
}

/** Resolves to whether the person may leave the page. */
export async function mayLeave(): Promise<boolean> {
  if (!mayBeLost()) return true;
  const leaves = await confirm({ title: t('unsavedTitle'), body: t('unsavedBody'), action: t('unsavedLeave'), tone: 'bad' });
  if (leaves) discardUnsaved();
  return leaves;
}

/** Forgets all unsaved work of the page, after it was saved or given up. */
export function discardUnsaved(): void {
  for (const work of works) work.discard();
}

/** Keeps what was typed before the page is left. Returns whether this browser has all of it, so that nothing is lost without a question. */
export function keepUnsaved(): boolean {
  for (const work of works) work.flush();
  return [...works].every((work) => !work.isDirty || work.isKept);
}

/** Lets the document be left without a question. What was typed stays in this browser. */
export function leaveKeeping(): void {
  keepUnsaved();
  isLeaving = true;
}
