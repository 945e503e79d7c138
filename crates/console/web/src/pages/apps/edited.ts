// A text that is edited while somebody else may change it.

import { useEffect, useState } from 'preact/hooks';

export interface Edited {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** What somebody else made of it since the edit began. */
  readonly theirs: string | null;
}

/** Follows `value` until the person writes something else. */
export function useEdited(value: string): Edited {
  const [text, setText] = useState(value);
  const [base, setBase] = useState(value);
  const isSettled = text === base || text.trim() === value;
  useEffect(() => {
    if (!isSettled || base === value) return;
    setText(value);
    setBase(value);
  }, [isSettled, base, value]);
  return { text, setText, theirs: isSettled || base === value ? null : value };
}
