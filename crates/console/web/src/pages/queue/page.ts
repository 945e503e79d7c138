import { definePage, route } from '#frame/page';

export default definePage({
  routes: [route('/w/:ws/queue', () => import('./queue'))],
  commands: [{ label: { en: 'Show the queue, and what waits for approval', ru: 'Показать очередь и то, что ждёт одобрения', kk: 'Кезек пен мақұлдауды күтіп тұрғандарды көрсету' }, to: '/queue', keys: 'g q' }],
});
