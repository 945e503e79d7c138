import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/connections', () => import('./list')),
    route('/w/:ws/connections/new', () => import('./new'), { over: '/w/:ws/connections' }),
    route('/w/:ws/connections/new/http', () => import('./new-http'), { over: '/w/:ws/connections' }),
    route('/w/:ws/connections/new/:connector', () => import('./connect'), { over: '/w/:ws/connections' }),
    route('/w/:ws/connections/:id', () => import('./connection'), { over: '/w/:ws/connections' }),
    route('/w/:ws/connections/:id/edit', () => import('./edit'), { over: '/w/:ws/connections' }),
  ],
  rail: {
    order: 71,
    label: { en: 'Connections', ru: 'Подключения', kk: 'Қосылымдар' },
    icon: 'M5.5 2v3M10.5 2v3M3.5 5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12v2.5',
    to: '/connections',
    key: 'o',
  },
  commands: [{ label: { en: 'Connect a service', ru: 'Подключить сервис', kk: 'Қызметті қосу' }, to: '/connections/new' }],
});
