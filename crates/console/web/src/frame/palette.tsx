// The palette: every command by its name (⌘K).

import { useState } from 'preact/hooks';
import { Dialog, openDialog } from '#ui/dialog';
import { commands, keysShown, type Command } from './commands';
import { t } from './messages';

let isOpen = false;

export function openPalette(): void {
  if (isOpen) return;
  isOpen = true;
  void openDialog<Command>((close) => <Palette close={close} />).then((command) => {
    isOpen = false;
    command?.run();
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

const optionId = (index: number) => `palette-${index}`;

function Palette({ close }: { close: (command?: Command) => void }) {
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const list = found(typed);
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
          {list.map((command, index) => (
            <div key={command.id} id={optionId(index)} role="option" aria-selected={index === active} onPointerMove={() => setActive(index)} onClick={() => close(command)}>
              <span>{command.label}</span>{command.group && <small>{command.group}</small>}{command.keys && keysShown(command.keys).map((key) => <kbd key={key}>{key}</kbd>)}
            </div>
          ))}
          {list.length === 0 && <p class="palette-none">{t('paletteNone', { typed })}</p>}
        </div>
      </div>
    </Dialog>
  );
}
