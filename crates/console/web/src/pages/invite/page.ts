import { definePage, route } from '#frame/page';

export default definePage({
  routes: [route('/invite/:token', () => import('./invite'), { layout: 'narrow' })],
});
