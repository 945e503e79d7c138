import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/apps', () => import('./list')),
    route('/w/:ws/apps/new', () => import('./new/index')),
    route('/w/:ws/apps/templates', () => import('./templates/list')),
    route('/w/:ws/apps/templates/:template', () => import('./templates/create')),
    route('/w/:ws/apps/:id', () => import('./overview')),
    route('/w/:ws/apps/:id/code', () => import('./code/index')),
    route('/w/:ws/apps/:id/versions', () => import('./versions/index')),
    route('/w/:ws/apps/:id/versions/:number', () => import('./versions/version')),
    route('/w/:ws/apps/:id/changes', () => import('./changes/index')),
    route('/w/:ws/apps/:id/changes/:change', () => import('./changes/change')),
    route('/w/:ws/apps/:id/access', () => import('./access')),
    route('/w/:ws/apps/:id/secrets', () => import('./secrets/index')),
    route('/w/:ws/apps/:id/logs', () => import('./logs/index')),
    route('/w/:ws/apps/:id/settings', () => import('./settings')),
  ],
  rail: {
    order: 20,
    label: { en: 'Apps', ru: 'Приложения', kk: 'Қолданбалар' },
    icon: 'M2.5 6.5L8 2.5l5.5 4V13.5h-11zM6.5 13.5v-4h3v4',
    to: '/apps',
    key: 'a',
  },
  commands: [
    { label: { en: 'New app', ru: 'Новое приложение', kk: 'Жаңа қолданба' }, to: '/apps/new', keys: 'n a' },
    { label: { en: 'New app from a template', ru: 'Новое приложение из шаблона', kk: 'Үлгіден жаңа қолданба' }, to: '/apps/templates' },
  ],
});
