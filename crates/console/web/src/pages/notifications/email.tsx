// Whether the person gets e-mail about the notifications of a workspace.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import { isReadOnly, toast, useAction } from '#frame';
import { Loaded, Switch } from '#ui';
import { t } from './messages';

export function EmailSettings({ ws }: { ws: string }) {
  const settings = useResource('/v1/workspaces/{ws}/notifications/settings', { path: { ws } });
  /** Where the switch was put, until the server has answered. */
  const [wanted, setWanted] = useState<boolean | null>(null);
  const change = useAction(async (email: boolean) => {
    setWanted(email);
    try {
      settings.set(await api.patch('/v1/workspaces/{ws}/notifications/settings', { path: { ws }, body: { email } }));
    } finally {
      setWanted(null);
    }
    toast(email ? t('emailOn') : t('emailOff'));
  });
  return (
    <section class="notifications-email" aria-labelledby="notifications-email">
      <h2 id="notifications-email">{t('email')}</h2>
      <Loaded resource={settings} lines={2}>
        {({ email, emailAvailable }) => (
          <Switch
            label={t('emailMe')} hint={isReadOnly.value ? t('readOnly') : emailAvailable ? t('emailHint') : t('noEmail')}
            checked={wanted ?? email} disabled={change.busy || isReadOnly.value} onChange={(isOn) => void change.run(isOn)}
          />
        )}
      </Loaded>
    </section>
  );
}
