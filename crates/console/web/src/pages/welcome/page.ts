import { definePage, route } from '#frame/page';

export default definePage({ routes: [route('/welcome', () => import('./welcome'), { layout: 'narrow' })] });
