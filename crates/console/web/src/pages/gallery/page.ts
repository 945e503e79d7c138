import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/gallery', () => import('./gallery'), { layout: 'account' }),
    route('/gallery/panel', () => import('./panel'), { layout: 'account', over: '/gallery' }),
  ],
});
