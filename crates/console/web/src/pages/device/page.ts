import { definePage, route } from '#frame/page';

export default definePage({
  routes: [route('/device', () => import('./device'), { layout: 'narrow' })],
});
