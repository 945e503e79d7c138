// Completion of names of the runtime in the editor of code, with their signatures.

import { autocompletion, completionKeymap, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { syntaxTree } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { membersOf, parseRuntimeTypes, type Member, type RuntimeTypes } from './runtime-types';

const EXPRESSION = /(?:[A-Za-z_$][\w$]*(?:\?)?\.)*[A-Za-z_$]?[\w$]*$/;
/** Text in which no name is completed. */
const PLAIN = /String|Comment|RegExp|TemplateString$/;

let types: Promise<RuntimeTypes> | null = null;

/** Reads the types once. Without them, nothing is completed until the next try. */
function runtimeTypes(): Promise<RuntimeTypes> {
  types ??= fetch('/types/qala.d.ts').then(async (response) => {
    if (!response.ok) throw new Error(`The types were not found: ${response.status}`);
    return parseRuntimeTypes(await response.text());
  }).catch((error: unknown) => {
    types = null;
    throw error;
  });
  return types;
}

function optionOf({ name, signature, comment, isFunction, type }: Member): Completion {
  const kind = isFunction ? 'function' : type === name ? 'class' : 'property';
  return { label: name, type: kind, detail: signature.slice(name.length), ...(comment !== '' && { info: comment }) };
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(EXPRESSION);
  if (word === null || (word.text === '' && !context.explicit) || PLAIN.test(syntaxTree(context.state).resolveInner(context.pos, -1).name)) return null;
  const parts = word.text.replaceAll('?', '').split('.');
  const last = parts.pop() ?? '';
  const known = await runtimeTypes().catch(() => null);
  if (known === null || context.aborted) return null;
  const options = membersOf(known, parts).map(optionOf);
  return options.length === 0 ? null : { from: context.pos - last.length, options, validFor: /^[\w$]*$/ };
}

export function runtimeCompletion(): Extension {
  // Signatures are wide: what is said of a name stands below the list, where it covers no option.
  const positionInfo = () => ({ style: 'top: 100%; left: -1px' });
  return [autocompletion({ icons: false, positionInfo }), javascriptLanguage.data.of({ autocomplete: complete }), keymap.of(completionKeymap)];
}
