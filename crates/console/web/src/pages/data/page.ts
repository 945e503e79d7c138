import { definePage, route } from '#frame/page';

// Names of tables begin with a letter, so that `-` stands for the project itself.
export default definePage({
  routes: [
    route('/w/:ws/data', () => import('./project/list')),
    route('/w/:ws/data/new', () => import('./project/create'), { over: '/w/:ws/data' }),
    route('/w/:ws/data/:project', () => import('./project/overview')),
    route('/w/:ws/data/:project/-/new-table', () => import('./table/create'), { over: '/w/:ws/data/:project' }),
    route('/w/:ws/data/:project/-/requests', () => import('./project/requests')),
    route('/w/:ws/data/:project/-/keys', () => import('./project/keys')),
    route('/w/:ws/data/:project/-/keys/new', () => import('./project/new-key'), { over: '/w/:ws/data/:project/-/keys' }),
    route('/w/:ws/data/:project/-/api', () => import('./project/api')),
    route('/w/:ws/data/:project/-/settings', () => import('./project/settings')),
    route('/w/:ws/data/:project/:table', () => import('./grid/page')),
    route('/w/:ws/data/:project/:table/new', () => import('./grid/new-row'), { over: '/w/:ws/data/:project/:table' }),
    route('/w/:ws/data/:project/:table/rows/:row', () => import('./grid/row-panel'), { over: '/w/:ws/data/:project/:table' }),
    route('/w/:ws/data/:project/:table/import', () => import('./table/import'), { over: '/w/:ws/data/:project/:table' }),
    route('/w/:ws/data/:project/:table/rules', () => import('./rules/page')),
    route('/w/:ws/data/:project/:table/structure', () => import('./table/structure')),
    route('/w/:ws/data/:project/:table/structure/new-column', () => import('./table/new-column'), { over: '/w/:ws/data/:project/:table/structure' }),
    route('/w/:ws/data/:project/:table/structure/new-index', () => import('./table/new-index'), { over: '/w/:ws/data/:project/:table/structure' }),
  ],
  rail: {
    order: 60,
    label: { en: 'Data', ru: 'Данные', kk: 'Деректер' },
    icon: 'M13 4c0 1.1-2.2 2-5 2S3 5.1 3 4s2.2-2 5-2 5 .9 5 2zM3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
    to: '/data',
    key: 't',
  },
  commands: [{ label: { en: 'New data project', ru: 'Новый проект данных', kk: 'Жаңа деректер жобасы' }, to: '/data/new' }],
});
