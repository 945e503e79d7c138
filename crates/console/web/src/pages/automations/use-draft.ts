import { useState } from 'preact/hooks';
import { useSeen, useUnsaved } from '#frame';
import { bodyOf, mistakesOf, type Draft, type Mistakes } from './draft';

interface Editing {
  readonly draft: Draft;
  readonly seen: ReturnType<typeof useSeen>;
  readonly change: (draft: Draft | null) => void;
  readonly mistakes: Mistakes;
  readonly isDirty: boolean;
  /** Whether the draft may be sent. From the first try on, mistakes are shown. */
  readonly check: () => boolean;
}

const NONE: Mistakes = {};

/** Holds a draft while it is edited, and asks before it is lost. Until then it follows `initial`, which is what `of` holds; `null` gives it up. */
export function useDraft(initial: Draft, of?: object): Editing {
  const [edited, setDraft] = useState<Draft | null>(null);
  const draft = edited ?? initial;
  const isDirty = JSON.stringify(draft) !== JSON.stringify(initial);
  const [isTried, setTried] = useState(false);
  const seen = useSeen(bodyOf(initial), isDirty, of);
  useUnsaved(isDirty, { form: 'automation', value: edited, restore: setDraft, ...(of === undefined ? {} : { seen }) });
  const check = () => {
    setTried(true);
    return Object.keys(mistakesOf(draft)).length === 0;
  };
  return { draft, seen, change: setDraft, isDirty, mistakes: isTried ? mistakesOf(draft) : NONE, check };
}
