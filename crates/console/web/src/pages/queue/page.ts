import { definePage, route } from '#frame/page';

export default definePage({
  routes: [route('/w/:ws/queue', () => import('./queue'))],
  rail: {
    order: 45,
    label: { en: 'Queue', ru: 'Очередь', kk: 'Кезек' },
    icon: 'M2.5 4h11M2.5 8h7M2.5 12h4M11 12.5l1.5 1.5 2.5-3',
    to: '/queue',
    key: 'q',
    count: ({ overview }) => ({ value: overview.waitingApprovals, label: { en: 'waiting for an answer', ru: 'ждут ответа', kk: 'жауап күтеді' }, tone: 'ask' }),
  },
  commands: [{ label: { en: 'Show what waits for approval', ru: 'Показать то, что ждёт одобрения', kk: 'Мақұлдауды күтіп тұрғандарды көрсету' }, to: '/queue' }],
});
