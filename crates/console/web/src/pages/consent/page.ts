import { definePage, route } from '#frame/page';

export default definePage({
  routes: [route('/oauth/consent/:id', () => import('./consent'), { layout: 'narrow' })],
});
