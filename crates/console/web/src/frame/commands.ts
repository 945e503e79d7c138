// The registry of commands. The palette, the shortcuts, the tooltips and the help all read it.

import { computed, signal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface Command {
  readonly id: string;
  readonly label: string;
  /** Keys that run it: `mod+k`, `j`, or one after the other: `g r`. `mod` is ⌘ or Ctrl. */
  readonly keys?: string;
  /** Heading in the palette and the help. */
  readonly group?: string;
  /** Whether it can be run now. */
  readonly when?: () => boolean;
  /** Whether only its keys run it, as for moving in a list. */
  readonly isHidden?: boolean;
  readonly run: () => void;
}

const registered = signal<ReadonlyMap<string, readonly Command[]>>(new Map());

/** All commands. Of two with the same id, the later one counts. */
export const commands = computed(() => {
  const byId = new Map<string, Command>();
  for (const list of registered.value.values()) for (const command of list) byId.set(command.id, command);
  return [...byId.values()];
});

/** Returns the command with this id, for its keys and label. */
export function commandOf(id: string): Command | undefined {
  return commands.value.find((command) => command.id === id);
}

/** Registers commands for as long as the component is shown. */
export function useCommands(list: readonly Command[]): void {
  const owner = useId();
  const shape = list.map(({ id, label, keys }) => `${id} ${label} ${keys}`).join('\n');
  const latest = useLatest(list);
  useEffect(() => {
    // Commands run the latest closure, without being registered anew at each drawing.
    const stable = latest.current.map((command, index) => ({
      ...command,
      run: () => latest.current[index]?.run(),
      when: () => latest.current[index]?.when?.() ?? true,
    }));
    registered.value = new Map([...registered.peek(), [owner, stable]]);
    return () => {
      const rest = new Map(registered.peek());
      rest.delete(owner);
      registered.value = rest;
    };
  }, [owner, shape]);
}

function useLatest<T>(value: T): { current: T } {
  const box = useRef(value);
  box.current = value;
  return box;
}

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
const SYMBOLS: Readonly<Record<string, string>> = {
  mod: IS_APPLE ? '⌘' : 'Ctrl', shift: IS_APPLE ? '⇧' : 'Shift', alt: IS_APPLE ? '⌥' : 'Alt', enter: '↵', escape: 'Esc', arrowup: '↑', arrowdown: '↓',
};

/** Returns the keys as they are written for people: `⌘K`, `G then R` as two. */
export function keysShown(keys: string): string[] {
  return keys.split(' ').map((stroke) => {
    const parts = stroke.split('+').map((key) => SYMBOLS[key] ?? (key.length === 1 ? key.toUpperCase() : key));
    return parts.join(IS_APPLE ? '' : '+');
  });
}

function strokeOf(event: KeyboardEvent): string {
  const key = event.key.toLowerCase();
  const modifiers = [(IS_APPLE ? event.metaKey : event.ctrlKey) && 'mod', event.altKey && 'alt', event.shiftKey && key.length > 1 && 'shift'];
  return [...modifiers.filter((name) => name !== false), key].join('+');
}

/** Whether keys go into a text. Only those with `mod` are commands there. */
function isTyping(target: EventTarget | null): boolean {
  const element = target instanceof Element ? (target.shadowRoot?.activeElement ?? target) : null;
  return element instanceof HTMLElement && (element.isContentEditable || element.matches('input:not([type=checkbox], [type=radio]), textarea, select'));
}

const SEQUENCE_PATIENCE = 1_000;
let pending = '';
let timer: ReturnType<typeof setTimeout>;

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.repeat && event.key === 'Enter') return;
  const stroke = strokeOf(event);
  const hasModifier = stroke.startsWith('mod+') || stroke.startsWith('alt+');
  if (isTyping(event.composedPath()[0] ?? null) && !hasModifier) return;
  // A modal dialog has the keyboard to itself, and Esc closes a menu before anything below it.
  if (document.querySelector('dialog:modal') && !hasModifier) return;
  if (stroke === 'escape' && document.querySelector('[popover]:popover-open')) return;
  const typed = pending ? `${pending} ${stroke}` : stroke;
  const usable = commands.peek().filter((command) => command.keys !== undefined && (command.when?.() ?? true));
  const found = usable.findLast(({ keys }) => keys === typed) ?? usable.findLast(({ keys }) => keys === stroke);
  clearTimeout(timer);
  pending = '';
  if (found) {
    event.preventDefault();
    found.run();
  } else if (usable.some(({ keys }) => keys?.startsWith(`${typed} `))) {
    pending = typed;
    timer = setTimeout(() => { pending = ''; }, SEQUENCE_PATIENCE);
  }
}

export function startShortcuts(): void {
  document.addEventListener('keydown', onKeyDown);
}
