import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/imports', () => import('./list')),
    route('/w/:ws/imports/new', () => import('./new')),
    route('/w/:ws/imports/:id', () => import('./import')),
  ],
  commands: [
    { label: { en: 'Import a workflow', ru: 'Импортировать процесс', kk: 'Процесті импорттау' }, to: '/imports/new' },
    { label: { en: 'Imports', ru: 'Импорт', kk: 'Импорттар' }, to: '/imports' },
  ],
});
