import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/automations', () => import('./list')),
    route('/w/:ws/automations/new', () => import('./new'), { over: '/w/:ws/automations' }),
    route('/w/:ws/automations/:id', () => import('./overview')),
    route('/w/:ws/automations/:id/schedule', () => import('./schedule')),
    route('/w/:ws/automations/:id/webhook', () => import('./webhook')),
    route('/w/:ws/automations/:id/edit', () => import('./edit'), { over: '/w/:ws/automations/:id' }),
    route('/w/:ws/automations/:id/run', () => import('./run-now'), { over: '/w/:ws/automations/:id' }),
  ],
  rail: {
    order: 30,
    label: { en: 'Automations', ru: 'Автоматизации', kk: 'Автоматтандырулар' },
    icon: 'M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z',
    to: '/automations',
    key: 'u',
  },
  commands: [{ label: { en: 'Create an automation', ru: 'Создать автоматизацию', kk: 'Автоматтандыру жасау' }, to: '/automations/new' }],
});
