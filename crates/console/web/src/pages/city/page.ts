import { definePage, route } from '#frame/page';

export default definePage({
  routes: [route('/w/:ws', () => import('./city'))],
  rail: {
    order: 10,
    label: { en: 'City', ru: 'Город', kk: 'Қала' },
    icon: 'M2 13.5h12M3.5 13.5V7h4v6.5M7.5 9.5V2.5h5v11M10 5.5h.01M10 8h.01M5.5 9.5h.01',
    to: '',
    key: 'c',
  },
});
