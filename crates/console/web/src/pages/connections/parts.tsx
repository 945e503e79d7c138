// What the forms of connections share.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '#api/problem';
import { useSeen, useUnsaved } from '#frame';
import { Notice, Panel, ProblemView, TextField } from '#ui';
import type { ComponentChildren } from 'preact';
import { fieldProblem } from './field-problem';
import { t } from './messages';

/** Returns the message for a field of the form, if the server refused it. */
export type ErrorOf = (field: string) => string | undefined;

interface Edited<D> {
  readonly draft: D;
  readonly change: (part: Partial<D> | null) => void;
  readonly isDirty: boolean;
  readonly seen: ReturnType<typeof useSeen>;
}

/** Follows what is saved until the person changes something, and asks before it is lost. `null` gives the edit up. The secret is kept nowhere. */
export function useEdited<D extends { readonly secret: string }>(saved: D, theirs?: { readonly shown: unknown; readonly of: object }): Edited<D> {
  const [edited, setEdited] = useState<Partial<D> | null>(null);
  const draft = { ...saved, ...edited };
  const isDirty = JSON.stringify(draft) !== JSON.stringify(saved);
  const seen = useSeen(theirs?.shown ?? null, isDirty, theirs?.of);
  const { secret: _, ...value } = edited ?? {} as Partial<D>;
  useUnsaved(isDirty, { form: 'connection', value, restore: (kept) => setEdited(Object.keys(kept).length === 0 ? null : kept as Partial<D>), ...(theirs === undefined ? {} : { seen }) });
  return { draft, isDirty, seen, change: (part) => setEdited(part === null ? null : (before) => ({ ...before, ...part })) };
}

interface FormProps {
  readonly id: string;
  readonly problem: Problem | null;
  /** Fields that the form shows; what is refused about any other is shown below it. */
  readonly fields: readonly string[];
  readonly onSubmit: () => void;
  readonly children: (errorOf: ErrorOf) => ComponentChildren;
}

/** A form that shows at its field what the server refused, and leads there. */
export function Form({ id, problem, fields, onSubmit, children }: FormProps) {
  const element = useRef<HTMLFormElement>(null);
  const refused = fieldProblem(problem);
  const isShown = refused !== null && fields.includes(refused.field);
  useEffect(() => { if (isShown) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(); }, [problem]);
  return (
    <form id={id} class="connections-form" noValidate ref={element} onSubmit={(event) => { event.preventDefault(); onSubmit(); }}>
      {children((field) => (isShown && refused.field === field ? refused.text : undefined))}
      {problem && !isShown && <ProblemView problem={problem} />}
    </form>
  );
}

/** The field for a secret. It begins empty: what is stored is never shown. */
export function SecretField({ value, onInput, hint, error, isStored }: { value: string; onInput: (value: string) => void; hint?: string | undefined; error?: string | undefined; isStored: boolean }) {
  const note = [hint, isStored ? t('secretKeep') : t('secretSealed')].filter(Boolean).join(' ');
  return <TextField label={t('secretField')} type="password" value={value} onInput={onInput} hint={note} error={error} maxlength={4096} autocomplete="new-password" spellcheck={false} placeholder={isStored ? t('secretUnchanged') : ''} />;
}

/** How to get the secret, step by step. */
export function Guide({ guide, docsUrl, name }: { guide: string | null; docsUrl: string; name: string }) {
  const steps = (guide ?? '').split('\n').filter((step) => step.trim() !== '');
  return (
    <section class="connections-guide">
      <h3>{t('guide')}</h3>
      {steps.length > 0 && <ol>{steps.map((step) => <li key={step}>{step}</li>)}</ol>}
      <p><a class="link" href={docsUrl} target="_blank" rel="noreferrer">{t('docs', { name })}</a></p>
    </section>
  );
}

/** A panel that only says why there is no form. */
export function Refused({ title, children }: { title: string; children: string }) {
  return <Panel title={title}><Notice tone="warn"><p>{children}</p></Notice></Panel>;
}
