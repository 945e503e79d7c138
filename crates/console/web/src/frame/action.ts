// Something that a person sets off, from the click to its outcome.

import { useRef, useState } from 'preact/hooks';
import { asProblem, type Problem } from '#api/problem';
import { toastProblem } from './toasts';

export interface Action<A extends unknown[]> {
  readonly run: (...values: A) => Promise<void>;
  readonly busy: boolean;
  /** Why it failed, until it is run again. */
  readonly problem: Problem | null;
}

interface ActionOptions {
  /** Where a failure is shown: in a toast, or by the component itself. */
  readonly shows?: 'toast' | 'inline';
}

/** Runs `action` once at a time. */
export function useAction<A extends unknown[]>(action: (...values: A) => Promise<unknown>, { shows = 'toast' }: ActionOptions = {}): Action<A> {
  const [state, setState] = useState<{ busy: boolean; problem: Problem | null }>({ busy: false, problem: null });
  const isRunning = useRef(false);
  const run = async (...values: A) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ busy: true, problem: null });
    try {
      await action(...values);
      setState({ busy: false, problem: null });
    } catch (error) {
      setState({ busy: false, problem: asProblem(error) });
      if (shows === 'toast') toastProblem(error);
    } finally {
      isRunning.current = false;
    }
  };
  return { run, ...state };
}
