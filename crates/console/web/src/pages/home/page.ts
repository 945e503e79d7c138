import { definePage, route } from '#frame/page';

export default definePage({ routes: [route('/', () => import('./home'), { layout: 'narrow' })] });
