// What is wrong in one line of an editor: the line is marked, and the message is below it.

import { StateEffect, StateField, type EditorState, type Extension } from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';

export interface LineProblem {
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1. */
  readonly column?: number | undefined;
  readonly message: string;
}

const shows = StateEffect.define<LineProblem | null>();

class Message extends WidgetType {
  constructor(private readonly text: string) {
    super();
  }

  override eq(other: Message): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('div');
    element.className = 'cm-problemText';
    element.setAttribute('role', 'alert');
    element.textContent = this.text;
    return element;
  }
}

function lineAt({ doc }: EditorState, number: number) {
  return doc.line(Math.max(1, Math.min(doc.lines, number)));
}

function decorate(state: EditorState, { line, message }: LineProblem): DecorationSet {
  const { from, to } = lineAt(state, line);
  return Decoration.set([
    Decoration.line({ class: 'cm-problemLine' }).range(from),
    Decoration.widget({ widget: new Message(message), block: true, side: 1 }).range(to),
  ]);
}

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    const effect = transaction.effects.findLast((one) => one.is(shows));
    if (effect) return effect.value === null ? Decoration.none : decorate(transaction.state, effect.value);
    return marks.map(transaction.changes);
  },
  provide: (self) => EditorView.decorations.from(self),
});

const appearance = EditorView.theme({
  '.cm-line.cm-problemLine': { backgroundColor: 'color-mix(in oklab, var(--bad) 12%, transparent)' },
  '.cm-problemText': { padding: '2px 12px', color: 'var(--bad)', fontFamily: 'var(--sans)', whiteSpace: 'pre-wrap', borderLeft: '3px solid var(--bad)' },
});

export const lineProblems: Extension = [field, appearance];

/** Marks the line, brings it into sight and puts the cursor there; or marks none. */
export function showProblem(view: EditorView, problem: LineProblem | null): void {
  if (problem === null) return view.dispatch({ effects: shows.of(null) });
  const line = lineAt(view.state, problem.line);
  const anchor = Math.min(line.to, line.from + Math.max(0, (problem.column ?? 1) - 1));
  view.dispatch({ effects: [shows.of(problem), EditorView.scrollIntoView(anchor, { y: 'center' })], selection: { anchor } });
}
