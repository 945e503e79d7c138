import { definePage, route } from '#frame/page';

export default definePage({ routes: [route('/gallery/city', () => import('./fixture'), { layout: 'account' })] });
