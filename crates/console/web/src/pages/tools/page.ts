import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/tools', () => import('./list')),
    route('/w/:ws/tools/:id', () => import('./tool'), { over: '/w/:ws/tools' }),
  ],
  rail: {
    order: 35,
    label: { en: 'Agent tools', ru: 'Инструменты агентов', kk: 'Агент құралдары' },
    icon: 'M10.5 2.5a3.5 3.5 0 0 0-3.3 4.7L2.5 11.9l1.6 1.6 4.7-4.7a3.5 3.5 0 0 0 4.4-4.6L11 6.4 9.6 5l2.2-2.2a3.5 3.5 0 0 0-1.3-.3z',
    to: '/tools',
    key: 'g',
  },
});
