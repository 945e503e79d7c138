// Whether the person gets e-mail about the notifications of a workspace.

import { api } from '#api/client';
import { useResource } from '#api/resource';
import { isReadOnly, toast, useSwitch } from '#frame';
import { Loaded, Switch } from '#ui';
import { t } from './messages';

export function EmailSettings({ ws }: { ws: string }) {
  const settings = useResource('/v1/workspaces/{ws}/notifications/settings', { path: { ws } });
  const choice = useSwitch(settings.data?.email ?? false, async (email) => {
    settings.set(await api.patch('/v1/workspaces/{ws}/notifications/settings', { path: { ws }, body: { email } }));
    toast(email ? t('emailOn') : t('emailOff'));
  });
  return (
    <section class="notifications-email" aria-labelledby="notifications-email">
      <h2 id="notifications-email">{t('email')}</h2>
      <Loaded resource={settings} lines={2}>
        {({ emailAvailable }) => (
          <Switch
            label={t('emailMe')} hint={isReadOnly.value ? t('readOnly') : emailAvailable ? t('emailHint') : t('noEmail')}
            checked={choice.checked} disabled={choice.busy || isReadOnly.value} onChange={choice.set}
          />
        )}
      </Loaded>
    </section>
  );
}
