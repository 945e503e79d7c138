// The claims of a person as whom the rules are tried.

import { useState } from 'preact/hooks';
import { Button, Dialog, JsonEditor, TextField, openDialog, parseJson } from '#ui';
import { t } from './messages';

type Claims = Readonly<Record<string, unknown>>;

export function claimsOf(text: string): Claims | null {
  const parsed = parseJson(text);
  if ('error' in parsed) return null;
  return typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value) ? (parsed.value as Claims) : null;
}

export async function askPerson(initial: Claims): Promise<Claims | undefined> {
  return openDialog<Claims>((close) => <PersonDialog initial={initial} close={close} />);
}

function PersonDialog({ initial, close }: { initial: Claims; close: (claims?: Claims) => void }) {
  const { sub, ...others } = initial;
  const [subject, setSubject] = useState(typeof sub === 'string' ? sub : '');
  const [text, setText] = useState(JSON.stringify(others, null, 2));
  const claims = claimsOf(text);
  const unavailable = subject === '' ? t('subjectFirst') : claims === null ? t('claimsWrong') : null;
  return (
    <Dialog title={t('personTitle')} onClose={() => close()} actions={<Button type="submit" form="data-person" variant="primary" unavailable={unavailable}>{t('usePerson')}</Button>}>
      <form id="data-person" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) close({ ...claims, sub: subject }); }}>
        <TextField label={t('subject')} hint={t('subjectHint')} value={subject} onInput={setSubject} autofocus autocomplete="off" spellcheck={false} />
        <div class="field"><span class="data-field-label">{t('otherClaims')}</span><JsonEditor label={t('otherClaims')} value={text} onChange={setText} height="short" /></div>
      </form>
    </Dialog>
  );
}
