import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/w/:ws/people', () => import('./members')),
    route('/w/:ws/people/members/:user', () => import('./member'), { over: '/w/:ws/people' }),
    route('/w/:ws/people/invites', () => import('./invites')),
    route('/w/:ws/people/invites/new', () => import('./new-invite'), { over: '/w/:ws/people/invites' }),
    route('/w/:ws/people/domain', () => import('./domain')),
  ],
  rail: {
    order: 110,
    label: { en: 'People', ru: 'Люди', kk: 'Адамдар' },
    icon: 'M8 5.5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM1 13.5c.4-2.5 2.2-4 4.5-4s4.1 1.5 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.6.5 2.7 1.8 3 3.7',
    to: '/people',
    key: 'p',
  },
  commands: [
    { label: { en: 'Invite people', ru: 'Пригласить людей', kk: 'Адамдарды шақыру' }, to: '/people/invites/new' },
    { label: { en: 'Set up the join domain', ru: 'Настроить домен для входа', kk: 'Қосылу доменін баптау' }, to: '/people/domain' },
  ],
});
