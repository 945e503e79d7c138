// Hosts in the messages of the gate.

/** Returns whether a text names a host, and not only a longer one that contains it. */
export function namesHost(text: string, host: string): boolean {
  for (let at = text.indexOf(host); at !== -1; at = text.indexOf(host, at + 1)) {
    const before = text[at - 1] ?? ' ';
    // A full stop ends a sentence; followed by a letter it goes on with a label.
    const after = text.slice(at + host.length, at + host.length + 2);
    if (!/[\w.-]/.test(before) && !/^([\w-]|\.\w)/.test(after)) return true;
  }
  return false;
}
