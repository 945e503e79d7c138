import { definePage, route } from '#frame/page';

/** Up to how many unread notifications are counted. */
const MAX_UNREAD = 100;

export default definePage({
  routes: [route('/w/:ws/notifications', () => import('./list'))],
  rail: {
    order: 55,
    label: { en: 'Notifications', ru: 'Уведомления', kk: 'Хабарламалар' },
    icon: 'M8 2a4 4 0 0 0-4 4c0 3.5-1.5 4.5-1.5 5.5h11C13.5 10.5 12 9.5 12 6a4 4 0 0 0-4-4zM6.5 13.5a1.6 1.6 0 0 0 3 0',
    to: '/notifications',
    key: 'n',
    count: ({ unread }) => ({
      value: unread,
      label: unread < MAX_UNREAD ? { en: 'unread', ru: 'не прочитано', kk: 'оқылмаған' } : { en: 'or more unread', ru: 'или больше не прочитано', kk: 'немесе одан көп оқылмаған' },
      tone: 'bad',
    }),
  },
  commands: [{ label: { en: 'Turn e-mail about failures on or off', ru: 'Включить или отключить письма о сбоях', kk: 'Қателер туралы хаттарды қосу немесе өшіру' }, to: '/notifications' }],
});
