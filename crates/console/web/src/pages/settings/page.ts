import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/settings', () => import('./workspace')),
    route('/w/:ws/settings/tokens', () => import('./tokens')),
    route('/w/:ws/settings/tokens/new', () => import('./new-token'), { over: '/w/:ws/settings/tokens' }),
    route('/w/:ws/settings/agents', () => import('./agents')),
    route('/w/:ws/settings/audit', () => import('./audit/index')),
  ],
  rail: {
    order: 120,
    label: { en: 'Settings', ru: 'Настройки', kk: 'Баптаулар' },
    icon: 'M10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4',
    to: '/settings',
    key: 's',
  },
  settings: [
    { order: 10, label: { en: 'Workspace', ru: 'Рабочее пространство', kk: 'Жұмыс кеңістігі' }, to: '' },
    { order: 20, label: { en: 'Tokens', ru: 'Токены', kk: 'Токендер' }, to: '/tokens' },
    { order: 30, label: { en: 'Agents', ru: 'Агенты', kk: 'Агенттер' }, to: '/agents' },
    { order: 90, label: { en: 'Audit log', ru: 'Журнал аудита', kk: 'Аудит журналы' }, to: '/audit' },
  ],
  commands: [
    { label: { en: 'Create a token', ru: 'Создать токен', kk: 'Токен жасау' }, to: '/settings/tokens/new' },
    { label: { en: 'Open the audit log', ru: 'Открыть журнал аудита', kk: 'Аудит журналын ашу' }, to: '/settings/audit' },
  ],
});
