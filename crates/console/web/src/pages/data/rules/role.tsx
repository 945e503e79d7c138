import { useState } from 'preact/hooks';
import { Button, Dialog, TextField, openDialog } from '#ui';
import { t } from './messages';

const ROLE = /^[a-z][a-z0-9_-]{0,30}$/;

export async function askRole(initial: string): Promise<string | undefined> {
  return openDialog<string>((close) => <RoleDialog initial={initial} close={close} />);
}

function RoleDialog({ initial, close }: { initial: string; close: (role?: string) => void }) {
  const [role, setRole] = useState(initial);
  const isValid = ROLE.test(role);
  return (
    <Dialog title={t('whoRole')} onClose={() => close()} actions={<Button type="submit" form="data-role" variant="primary" unavailable={isValid ? null : t('roleHint')}>{t('useRole')}</Button>}>
      <form id="data-role" onSubmit={(event) => { event.preventDefault(); if (isValid) close(role); }}>
        <TextField label={t('role')} hint={t('roleHint')} value={role} onInput={setRole} error={role !== '' && !isValid ? t('roleHint') : null} maxlength={31} autofocus autocomplete="off" spellcheck={false} />
      </form>
    </Dialog>
  );
}
