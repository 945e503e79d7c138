// The person, and how the console looks to them.

import { session, setTheme, theme, type Theme } from '#frame';
import { locale, LOCALE_NAMES, LOCALES, setLocale } from '#i18n';
import { Avatar, Card, Copyable, Segments } from '#ui';
import { AccountPage } from './frame';
import { t } from './messages';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export default function Preferences() {
  const user = session.value?.user;
  if (!user) return null;
  return (
    <AccountPage>
      <div class="account-column">
        <Card>
          <div class="card-body account-person">
            <Avatar user={user} size="large" />
            <div><strong>{user.name}</strong><Copyable value={user.email} /><Copyable value={user.id} /></div>
          </div>
        </Card>
        <Card title={t('appearance')}>
          <div class="card-body account-choices">
            <span>{t('language')}</span><Segments label={t('language')} value={locale.value} onChange={setLocale} options={LOCALES.map((value) => ({ value, label: LOCALE_NAMES[value] }))} />
            <span>{t('theme')}</span><Segments label={t('theme')} value={theme.value} onChange={setTheme} options={THEMES.map((value) => ({ value, label: t(`theme_${value}`) }))} />
          </div>
        </Card>
        <p class="muted">{t('appearanceHint')}</p>
      </div>
    </AccountPage>
  );
}
