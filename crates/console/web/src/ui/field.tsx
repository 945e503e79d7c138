import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null | undefined;
  /** Leaves the label to screen readers. */
  readonly isLabelHidden?: boolean;
}

/** Lays out a control with its label, hint and error, and connects them. */
export function Field({ label, hint, error, isLabelHidden = false, children }: FieldProps & { children: (attributes: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean | undefined }) => ComponentChildren }) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'hidden-text' : ''}>{label}</label>
      {children({ id, 'aria-describedby': describedBy, 'aria-invalid': error ? true : undefined })}
      {hint && <p class="field-hint" id={`${id}-hint`}>{hint}</p>}
      {error && <p class="field-error" id={`${id}-error`} role="alert">{error}</p>}
    </div>
  );
}

/** Attributes of an `<input>` that a field passes on. */
type InputAttributes = 'name' | 'autocomplete' | 'autofocus' | 'disabled' | 'inputmode' | 'max' | 'maxlength' | 'min' | 'minlength' | 'pattern' | 'placeholder' | 'readonly' | 'required' | 'spellcheck' | 'step';
type InputType = 'text' | 'password' | 'email' | 'number' | 'search' | 'url' | 'date' | 'time' | 'datetime-local';
type InputProps = FieldProps & Pick<InputHTMLAttributes<HTMLInputElement>, InputAttributes> & { readonly type?: InputType; readonly value: string; readonly onInput: (value: string) => void };

export function TextField({ label, hint, error, isLabelHidden = false, type = 'text', value, onInput, ...rest }: InputProps) {
  const input = useRef<HTMLInputElement>(null);
  // A browser heeds the attribute once a document; fields come later too.
  useEffect(() => { if (rest.autofocus) input.current?.focus(); }, []);
  return (
    <Field label={label} hint={hint} error={error} isLabelHidden={isLabelHidden}>
      {/* The types of JSX have a union for each type of input; all of these are one here. */}
      {(attributes) => <input class="input" ref={input} {...({ type, ...rest } as { type: 'text' })} {...attributes} value={value} onInput={(event) => onInput(event.currentTarget.value)} />}
    </Field>
  );
}

type AreaProps = FieldProps & Pick<TextareaHTMLAttributes<HTMLTextAreaElement>, 'name' | 'autofocus' | 'disabled' | 'maxlength' | 'minlength' | 'placeholder' | 'readonly' | 'required' | 'rows' | 'spellcheck'> & { readonly value: string; readonly onInput: (value: string) => void };

export function TextArea({ label, hint, error, isLabelHidden = false, value, onInput, ...rest }: AreaProps) {
  return (
    <Field label={label} hint={hint} error={error} isLabelHidden={isLabelHidden}>
      {(attributes) => <textarea class="input" {...rest} {...attributes} value={value} onInput={(event) => onInput(event.currentTarget.value)} />}
    </Field>
  );
}

export interface Option<V extends string = string> {
  readonly value: V;
  readonly label: string;
}

type SelectProps<V extends string> = FieldProps & { readonly options: readonly Option<V>[]; readonly value: V; readonly onChange: (value: V) => void; readonly disabled?: boolean };

export function Select<V extends string>({ options, value, onChange, disabled = false, ...field }: SelectProps<V>) {
  return (
    <Field {...field}>
      {(attributes) => (
        <select class="input select" {...attributes} disabled={disabled} value={value} onChange={(event) => onChange(event.currentTarget.value as V)}>
          {options.map((option) => <option key={option.value} value={option.value}>{option.label}</option>)}
        </select>
      )}
    </Field>
  );
}

/** A few choices of which each needs a sentence. */
export function Choice<V extends string>({ label, options, value, onChange }: { label: string; options: readonly (Option<V> & { readonly detail?: ComponentChildren })[]; value: V; onChange: (value: V) => void }) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option.value} class="choice-option">
          <input type="radio" name={name} checked={option.value === value} onChange={() => onChange(option.value)} />
          <span>{option.label}{option.detail && <small>{option.detail}</small>}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}

/** Something that is on or off, and takes effect at once. */
export function Switch({ label, hint, checked, onChange, disabled = false }: SwitchProps) {
  const id = useId();
  return (
    <div class="switch-row">
      <input type="checkbox" role="switch" class="switch" id={id} checked={checked} disabled={disabled} aria-describedby={hint ? `${id}-hint` : undefined} onChange={(event) => onChange(event.currentTarget.checked)} />
      <label for={id}>{label}</label>
      {hint && <p class="field-hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

/** One of several that may be on together. Takes effect with its form. */
export function Checkbox({ label, hint, checked, onChange, disabled = false }: SwitchProps) {
  const id = useId();
  return (
    <div class="switch-row">
      <input type="checkbox" class="checkbox" id={id} checked={checked} disabled={disabled} aria-describedby={hint ? `${id}-hint` : undefined} onChange={(event) => onChange(event.currentTarget.checked)} />
      <label for={id}>{label}</label>
      {hint && <p class="field-hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}
