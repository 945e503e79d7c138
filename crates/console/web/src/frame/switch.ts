// A setting that takes effect at once.

import { useState } from 'preact/hooks';
import { useAction } from './action';

interface Switched {
  /** What was asked for, until `change` has ended; then what is saved. */
  readonly checked: boolean;
  readonly busy: boolean;
  readonly set: (isOn: boolean) => void;
}

/** Shows `saved`, and runs `change` when it is switched. `change` replaces `saved` before it ends, or the switch would go back and forth. */
export function useSwitch(saved: boolean, change: (isOn: boolean) => Promise<unknown>): Switched {
  const [wanted, setWanted] = useState<boolean | null>(null);
  const { run, busy } = useAction(async (isOn: boolean) => {
    setWanted(isOn);
    try {
      await change(isOn);
    } finally {
      setWanted(null);
    }
  });
  return { checked: wanted ?? saved, busy, set: (isOn) => void run(isOn) };
}
