// Editors of code. Each is in a shadow root, so that CodeMirror's styles are constructed sheets, which the policy allows.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button';
import type { LineProblem } from './code-problem';
import type { Editor, Language } from './code-setup';
import { Skeleton } from './feedback';
import { changedNumber, formatJson } from './json-text';
import { t } from './messages';

export type { LineProblem };

const load = () => import('./code-setup');

function shadowOf(element: HTMLElement): ShadowRoot {
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
  root.replaceChildren();
  return root;
}

interface CodeProps {
  readonly value: string;
  readonly label: string;
  readonly language?: Language;
  /** Without it, the text can only be read. */
  readonly onChange?: ((value: string) => void) | undefined;
  /** What the text is compared with, in the same column. */
  readonly original?: string | undefined;
  readonly height?: 'short' | 'normal' | 'tall' | 'fill';
  /** Number of the first line, for a part of a file. */
  readonly firstLine?: number;
  /** What is wrong in one of its lines. */
  readonly problem?: LineProblem | null | undefined;
}

export function Code({ value, label, language = 'text', onChange, original, height = 'normal', firstLine = 1, problem = null }: CodeProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [isReady, setReady] = useState(false);
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  // Texts that the editor has told and that have not come back as `value` yet. Somebody who types fast is ahead of them.
  const told = useRef<string[]>([]);
  useEffect(() => {
    let isGone = false;
    void load().then(({ createEditor }) => {
      if (isGone || !host.current) return;
      const isReadOnly = latest.current.onChange === undefined;
      editor.current = createEditor({ root: shadowOf(host.current), value: latest.current.value, label, language, isReadOnly, original, firstLine, onChange: (next) => { told.current.push(next); latest.current.onChange?.(next); } });
      told.current = [];
      setReady(true);
    });
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, [language, label, original, firstLine]);
  useEffect(() => {
    const at = told.current.indexOf(value);
    told.current = at < 0 ? [] : told.current.slice(at + 1);
    if (at < 0) editor.current?.setValue(value);
  }, [value]);
  useEffect(() => editor.current?.setReadOnly(onChange === undefined), [onChange === undefined]);
  useEffect(() => editor.current?.setProblem(problem), [problem, isReady]);
  return <div class={`code code-${height}`}>{!isReady && <Skeleton lines={4} />}<div ref={host} class="code-host" /></div>;
}

/** Two texts side by side. On phones use `Code` with `original`. */
export function Diff({ original, changed, language = 'text', labels }: { original: string; changed: string; language?: Language; labels?: readonly [string, string] }) {
  const host = useRef<HTMLDivElement>(null);
  const [left, right] = labels ?? [t('original'), t('changed')];
  useEffect(() => {
    let view: { destroy(): void } | null = null;
    let isGone = false;
    void load().then(({ createDiff }) => {
      if (!isGone && host.current) view = createDiff({ root: shadowOf(host.current), original, changed, language, labels: [left, right] });
    });
    return () => {
      isGone = true;
      view?.destroy();
    };
  }, [original, changed, language, left, right]);
  return <div class="diff"><div class="diff-labels"><span>{left}</span><span>{right}</span></div><div ref={host} class="code-host" /></div>;
}

/** Returns the language of a file by the end of its name. */
export function languageOf(path: string): Language {
  if (path.endsWith('.json')) return 'json';
  if (/\.m?ts$/.test(path)) return 'typescript';
  return /\.[cm]?jsx?$/.test(path) ? 'javascript' : 'text';
}

interface FilesProps {
  readonly files: Readonly<Record<string, string>>;
  readonly onChange?: (path: string, text: string) => void;
  /** The files that these are compared with. */
  readonly originals?: Readonly<Record<string, string>>;
}

/** Several files, one of which is shown. */
export function CodeFiles({ files, onChange, originals }: FilesProps) {
  const paths = Object.keys(files).sort();
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = chosen !== null && paths.includes(chosen) ? chosen : (paths.find((path) => /^main\.[jt]s$/.test(path)) ?? paths[0]);
  if (shown === undefined) return null;
  const isChanged = (path: string) => originals !== undefined && originals[path] !== files[path];
  return (
    <div class="code-files">
      <div class="code-tabs" role="group" aria-label={t('files')}>
        {paths.map((path) => <button key={path} type="button" aria-pressed={path === shown} class={isChanged(path) ? 'is-changed' : ''} onClick={() => setChosen(path)}>{path}</button>)}
      </div>
      <Code key={shown} label={shown} value={files[shown] ?? ''} language={languageOf(shown)} original={originals?.[shown]} onChange={onChange && ((text) => onChange(shown, text))} height="tall" />
    </div>
  );
}

/** Returns what is wrong with the syntax of a text in JSON, or `null`. */
export function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return t('jsonError', { message: (error as Error).message });
  }
}

/** Returns the value of a text in JSON, or what is wrong with it. So is a number that would be sent as another one. */
export function parseJson(text: string): { readonly value: unknown } | { readonly error: string } {
  const error = jsonProblem(text);
  if (error !== null) return { error };
  const number = changedNumber(text);
  return number === null ? { value: JSON.parse(text) as unknown } : { error: t('jsonNumber', { number }) };
}

interface JsonEditorProps extends Omit<CodeProps, 'language'> {
  /** Whether the text itself is sent, with numbers of any length. */
  readonly sendsText?: boolean;
}

/** An editor of JSON that says what is wrong. */
export function JsonEditor({ value, label, onChange, original, height = 'normal', problem, sendsText = false }: JsonEditorProps) {
  const parsed = sendsText ? { error: jsonProblem(value) } : parseJson(value);
  const error = 'error' in parsed ? parsed.error : null;
  return (
    <div class="json-editor">
      <Code value={value} label={label} language="json" onChange={onChange} original={original} height={height} problem={problem} />
      <div class="json-editor-foot">
        <span class={error ? 'field-error' : 'field-hint'} role="status">{error ?? ''}</span>
        {onChange && !error && <Button size="small" variant="plain" onClick={() => onChange(formatJson(value))}>{t('formatJson')}</Button>}
      </div>
    </div>
  );
}
