// The palette: every object and command by its name (⌘K).

import { useEffect, useState } from 'preact/hooks';
import { asProblem } from '#api/problem';
import { Dialog, openDialog } from '#ui/dialog';
import { commands, keysShown, type Command } from './commands';
import { findObjects, recent, type Place } from './found';
import { t } from './messages';
import { navigate } from './router';
import { workspace } from './session';

/** What can be chosen: a command, or the page of an object. */
interface Choice {
  readonly id: string;
  readonly label: string;
  readonly about?: string | undefined;
  readonly keys?: string | undefined;
  readonly run: () => void;
}

let isOpen = false;

export function openPalette(): void {
  if (isOpen) return;
  isOpen = true;
  void openDialog<Choice>((close) => <Palette close={close} />).then((choice) => {
    isOpen = false;
    choice?.run();
  });
}

/** Returns how well `label` fits what was typed: all letters in order, the closer together the better; `null` if not. */
function fit(label: string, typed: string): number | null {
  const text = label.toLocaleLowerCase();
  let at = -1;
  let score = 0;
  for (const letter of typed.toLocaleLowerCase().replaceAll(' ', '')) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    const isWordStart = next === 0 || /[\s·“«]/.test(text[next - 1] ?? '');
    score += isWordStart ? 0 : next - at - 1 + 1;
    at = next;
  }
  return score;
}

function found(typed: string): readonly Command[] {
  const usable = commands.value.filter((command) => !command.isHidden && (command.when?.() ?? true));
  if (typed.trim() === '') return usable;
  return usable
    .map((command) => ({ command, score: fit(command.label, typed) }))
    .filter((entry): entry is { command: Command; score: number } => entry.score !== null)
    .sort((a, b) => a.score - b.score)
    .map(({ command }) => command);
}

/** Pause in typing after which the server is asked. */
const PAUSE = 150;
const SHORTEST = 2;

/** Returns the objects that match, once they are there; those looked at last while nothing is typed. */
function usePlaces(typed: string): { readonly places: readonly Place[]; readonly problem: string | null } {
  const ws = workspace.value?.id ?? null;
  const [found, setFound] = useState<{ readonly typed: string; readonly places: readonly Place[]; readonly problem: string | null }>({ typed: '', places: [], problem: null });
  const text = typed.trim();
  useEffect(() => {
    if (ws === null || text.length < SHORTEST) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      findObjects(ws, text, abort.signal).then(
        (places) => setFound({ typed: text, places, problem: null }),
        (error: unknown) => { if (!abort.signal.aborted) setFound({ typed: text, places: [], problem: asProblem(error).message }); },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [ws, text]);
  if (text === '') return { places: recent.value.filter(({ href }) => href.startsWith(`/w/${ws}/`) && href !== location.pathname), problem: null };
  // What was found for a shorter text still fits until the server has answered, if it contains the longer one.
  const isCurrent = found.typed === text;
  return { places: isCurrent ? found.places : found.places.filter(({ name }) => name.toLocaleLowerCase().includes(text.toLocaleLowerCase())), problem: isCurrent ? found.problem : null };
}

function choiceOfPlace({ kind, name, detail, href }: Place): Choice {
  return { id: href, label: name, about: [t(`found_${kind}`), detail].filter(Boolean).join(' · '), run: () => void navigate(href) };
}

function choiceOfCommand(command: Command): Choice {
  return { id: command.id, label: command.label, about: command.group, keys: command.keys, run: command.run };
}

const optionId = (index: number) => `palette-${index}`;

function Palette({ close }: { close: (choice?: Choice) => void }) {
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const { places, problem } = usePlaces(typed);
  const list = [...places.map(choiceOfPlace), ...found(typed).map(choiceOfCommand)];
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: list.length - 1 };
    const next = moves[event.key];
    if (next !== undefined && list.length > 0) {
      event.preventDefault();
      const index = (next + list.length) % list.length;
      setActive(index);
      document.getElementById(optionId(index))?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (list[active]) close(list[active]);
    }
  };
  return (
    <Dialog title={t('palette')} onClose={() => close()}>
      <div class="palette">
        <input
          class="input" type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={list.length > 0 ? optionId(active) : undefined} aria-label={t('palette')}
          placeholder={t('paletteHint')} value={typed} autofocus autocomplete="off" spellcheck={false} onKeyDown={onKeyDown}
          onInput={(event) => { setTyped(event.currentTarget.value); setActive(0); }}
        />
        <div id="palette-list" role="listbox" aria-label={t('palette')} class="palette-list">
          {list.map((choice, index) => (
            <div key={choice.id} id={optionId(index)} role="option" aria-selected={index === active} onPointerMove={() => setActive(index)} onClick={() => close(choice)}>
              <span>{choice.label}</span>{choice.about && <small>{choice.about}</small>}{choice.keys && keysShown(choice.keys).map((key) => <kbd key={key}>{key}</kbd>)}
            </div>
          ))}
          {problem !== null && <p class="palette-none" role="status">{t('searchFailed', { problem })}</p>}
          {list.length === 0 && problem === null && <p class="palette-none">{t('paletteNone', { typed })}</p>}
        </div>
      </div>
    </Dialog>
  );
}
