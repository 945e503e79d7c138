// The editor of CodeMirror as the console uses it. Loaded when one is shown.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { codePhrases } from './code-phrases';
import { lineProblems, showProblem, type LineProblem } from './code-problem';
import { runtimeCompletion } from './runtime-completion';

export type Language = 'json' | 'javascript' | 'typescript' | 'text';

const LANGUAGES: Readonly<Record<Language, () => Extension>> = { json, javascript: () => javascript(), typescript: () => javascript({ typescript: true }), text: () => [] };

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-name)' },
  { tag: [tags.function(tags.variableName), tags.definition(tags.function(tags.variableName))], color: 'var(--code-name)' },
  { tag: tags.comment, color: 'var(--n9)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

const appearance = EditorView.theme({
  '&': { color: 'var(--n12)', backgroundColor: 'var(--n1)', fontSize: '12px', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 12px' },
  '.cm-gutters': { backgroundColor: 'var(--n2)', color: 'var(--n9)', border: 'none', borderRight: '1px solid var(--n4)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--n3)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-panels': { backgroundColor: 'var(--n2)', color: 'var(--n12)', borderColor: 'var(--n4)' },
  '.cm-textfield, .cm-button': { backgroundColor: 'var(--n1)', backgroundImage: 'none', color: 'var(--n12)', border: '1px solid var(--n6)', borderRadius: '4px', fontSize: '12px' },
  '.cm-tooltip': { backgroundColor: 'var(--n1)', color: 'var(--n12)', border: '1px solid var(--n6)', borderRadius: '4px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxWidth: 'min(720px, 90vw)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--selection)', color: 'var(--n12)' },
  '.cm-completionDetail': { color: 'var(--n11)', fontStyle: 'normal', marginInlineStart: '0' },
  '.cm-completionInfo': { padding: '8px 12px', maxWidth: '320px', fontFamily: 'var(--sans)' },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in oklab, var(--warn) 30%, transparent)' },
  '.cm-deletedChunk, &.cm-merge-a .cm-changedLine': { backgroundColor: 'color-mix(in oklab, var(--bad) 9%, transparent)' },
  '&.cm-merge-b .cm-changedLine, .cm-insertedLine': { backgroundColor: 'color-mix(in oklab, var(--ok) 10%, transparent)' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': { background: 'linear-gradient(var(--bad), var(--bad)) bottom / 100% 2px no-repeat' },
  '&.cm-merge-b .cm-changedText': { background: 'linear-gradient(var(--ok), var(--ok)) bottom / 100% 2px no-repeat' },
  '.cm-deletedChunk': { paddingLeft: '12px' },
  '.cm-collapsedLines': { background: 'var(--n2)', color: 'var(--n10)', padding: '2px 12px' },
  // Its own character is missing in many fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯" !important' },
});

/** Replaces a selection by what is typed. Chrome would keep the style of the selection in an attribute, which the policy refuses. */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view;
    if (event.inputType !== 'insertText' || event.data === null || state.selection.main.empty || state.readOnly || view.composing) return false;
    event.preventDefault();
    view.dispatch(state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

function base(language: Language, label: string, firstLine = 1): Extension[] {
  return [
    typeOverSelection, lineNumbers({ formatNumber: (line) => String(line + firstLine - 1) }), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightSelectionMatches(),
    syntaxHighlighting(highlighting), appearance, LANGUAGES[language](), EditorState.tabSize.of(2), EditorState.phrases.of(codePhrases()),
    // Locked text is reached by the keyboard too, which scrolls it.
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    // Tab leaves the editor after Esc, which CodeMirror says itself (WCAG 2.1.2).
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, indentWithTab]),
  ];
}

/** Whether the text can be changed. Locked text has no line that is being edited, and long lines of it are in sight at once. */
const editable = (isLocked: boolean): Extension => [EditorState.readOnly.of(isLocked), EditorView.editable.of(!isLocked), isLocked ? EditorView.lineWrapping : highlightActiveLine()];

export interface Editor {
  setValue(value: string): void;
  setReadOnly(isReadOnly: boolean): void;
  setProblem(problem: LineProblem | null): void;
  focus(): void;
  destroy(): void;
}

interface EditorOptions {
  readonly root: ShadowRoot;
  readonly value: string;
  readonly label: string;
  readonly language: Language;
  readonly isReadOnly: boolean;
  /** What the text is compared with, in the same column. */
  readonly original?: string | undefined;
  readonly firstLine: number;
  readonly onChange?: ((value: string) => void) | undefined;
}

export function createEditor({ root, value, label, language, isReadOnly, original, firstLine, onChange }: EditorOptions): Editor {
  const readOnly = new Compartment();
  let isSetting = false;
  const view = new EditorView({
    root, parent: root, doc: value,
    extensions: [
      language === 'javascript' || language === 'typescript' ? runtimeCompletion() : [],
      base(language, label, firstLine), readOnly.of(editable(isReadOnly)), lineProblems,
      original === undefined ? [] : unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 8 } }),
      EditorView.updateListener.of((update) => { if (update.docChanged && !isSetting) onChange?.(update.state.doc.toString()); }),
    ],
  });
  return {
    setValue: (next) => {
      if (next === view.state.doc.toString()) return;
      isSetting = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      isSetting = false;
    },
    setReadOnly: (locked) => view.dispatch({ effects: readOnly.reconfigure(editable(locked)) }),
    setProblem: (problem) => showProblem(view, problem),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

interface DiffOptions {
  readonly root: ShadowRoot;
  readonly original: string;
  readonly changed: string;
  readonly language: Language;
  readonly labels: readonly [original: string, changed: string];
}

/** Shows two texts side by side. */
export function createDiff({ root, original, changed, language, labels }: DiffOptions): { destroy(): void } {
  const side = (doc: string, label: string) => ({ doc, extensions: [base(language, label), editable(true)] });
  return new MergeView({ a: side(original, labels[0]), b: side(changed, labels[1]), parent: root, root, collapseUnchanged: { margin: 3, minSize: 8 }, gutter: true });
}
