import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/account', () => import('./preferences'), { layout: 'account' }),
    route('/account/sessions', () => import('./sessions'), { layout: 'account' }),
    route('/account/passkeys', () => import('./passkeys'), { layout: 'account' }),
    route('/account/workspaces', () => import('./workspaces'), { layout: 'account' }),
  ],
  account: [
    { order: 10, label: { en: 'Preferences', ru: 'Предпочтения', kk: 'Қалаулар' }, to: '' },
    { order: 20, label: { en: 'Sessions', ru: 'Сеансы', kk: 'Сеанстар' }, to: '/sessions' },
    { order: 30, label: { en: 'Passkeys', ru: 'Ключи доступа', kk: 'Кіру кілттері' }, to: '/passkeys' },
    { order: 40, label: { en: 'Workspaces', ru: 'Рабочие пространства', kk: 'Жұмыс кеңістіктері' }, to: '/workspaces' },
  ],
  commands: [
    { label: { en: 'Show where I am signed in', ru: 'Показать мои сеансы', kk: 'Сеанстарымды көрсету' }, to: '/account/sessions' },
    { label: { en: 'Manage passkeys', ru: 'Управлять ключами доступа', kk: 'Кіру кілттерін басқару' }, to: '/account/passkeys' },
    { label: { en: 'Show my workspaces', ru: 'Показать мои рабочие пространства', kk: 'Жұмыс кеңістіктерімді көрсету' }, to: '/account/workspaces' },
  ],
});
