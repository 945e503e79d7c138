import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/gates', () => import('./list')),
    route('/w/:ws/gates/new', () => import('./new'), { over: '/w/:ws/gates' }),
    route('/w/:ws/gates/:id', () => import('./gate'), { over: '/w/:ws/gates' }),
  ],
  rail: {
    order: 72,
    label: { en: 'Gates', ru: 'Шлюзы', kk: 'Шлюздер' },
    icon: 'M2.5 13.5v-8a5.5 3.5 0 0 1 11 0v8M5.5 13.5V6M8 13.5V5M10.5 13.5V6',
    to: '/gates',
    key: 'w',
  },
  commands: [{ label: { en: 'Create a gate', ru: 'Создать шлюз', kk: 'Шлюз жасау' }, to: '/gates/new' }],
});
