import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/runs', () => import('./list')),
    route('/w/:ws/runs/:id', () => import('./detail')),
    route('/w/:ws/runs/:id/replay', () => import('./replay'), { over: '/w/:ws/runs/:id' }),
  ],
  rail: {
    order: 40,
    label: { en: 'Runs', ru: 'Запуски', kk: 'Іске қосулар' },
    icon: 'M2 8h3l2-4.5 3 9L12 8h2',
    to: '/runs',
    key: 'r',
    count: ({ overview }) => ({ value: overview.running, label: { en: 'running', ru: 'выполняется', kk: 'орындалуда' }, tone: 'live' }),
  },
  commands: [{ label: { en: 'Show failed runs', ru: 'Показать запуски с ошибками', kk: 'Қате болған іске қосуларды көрсету' }, to: '/runs?status=failed' }],
});
