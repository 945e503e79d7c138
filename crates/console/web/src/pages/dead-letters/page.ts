import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/dead-letters', () => import('./list')),
    route('/w/:ws/dead-letters/:id', () => import('./detail'), { over: '/w/:ws/dead-letters' }),
  ],
  rail: {
    order: 50,
    label: { en: 'Dead letters', ru: 'Недоставленные', kk: 'Жеткізілмегендер' },
    icon: 'M2 4h12v8.5H2zM2 4.5l6 4.5 6-4.5',
    to: '/dead-letters',
    key: 'd',
    count: ({ overview }) => ({ value: overview.deadLetters, label: { en: 'open', ru: 'открыто', kk: 'ашық' }, tone: 'bad' }),
  },
});
