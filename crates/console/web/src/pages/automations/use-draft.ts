import { useState } from 'preact/hooks';
import { useUnsaved } from '#frame';
import { mistakesOf, type Draft, type Mistakes } from './draft';

interface Editing {
  readonly draft: Draft;
  readonly change: (draft: Draft) => void;
  readonly mistakes: Mistakes;
  /** Whether the draft may be sent. From the first try on, mistakes are shown. */
  readonly check: () => boolean;
}

const NONE: Mistakes = {};

/** Holds a draft while it is edited, and asks before it is lost. */
export function useDraft(initial: Draft): Editing {
  const [original] = useState(initial);
  const [draft, setDraft] = useState(initial);
  const [isTried, setTried] = useState(false);
  useUnsaved(JSON.stringify(draft) !== JSON.stringify(original));
  const check = () => {
    setTried(true);
    return Object.keys(mistakesOf(draft)).length === 0;
  };
  return { draft, change: setDraft, mistakes: isTried ? mistakesOf(draft) : NONE, check };
}
