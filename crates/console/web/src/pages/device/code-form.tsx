import { useState } from 'preact/hooks';
import { typedInto } from '#frame/server-page';
import { Button, TextField } from '#ui';
import { t } from './messages';

const MAX_LENGTH = 16;

/** Asks for the code that the command line shows. */
export function CodeForm({ onCode }: { onCode: (code: string) => void }) {
  const [code, setCode] = useState(() => typedInto('/device', 'user_code'));
  const submit = (event: Event) => {
    event.preventDefault();
    onCode(code.trim().toUpperCase());
  };
  return (
    <>
      <h1>{t('title')}</h1>
      <form onSubmit={submit}>
        <div class="device-entry"><TextField label={t('enterCode')} value={code} onInput={setCode} maxlength={MAX_LENGTH} autocomplete="off" spellcheck={false} placeholder="XXXX-XXXX" required autofocus /></div>
        <Button type="submit" variant="primary">{t('proceed')}</Button>
      </form>
    </>
  );
}
