import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Sign in', linkTitle: 'Sign in?', linkLead: 'You opened the link from our mail. Continue only if you asked for it.', otherWay: 'Sign in another way', signIn: 'Sign in', pitch: 'Small apps, webhooks and data of your team, on your own server.',
  },
  ru: {
    title: 'Вход', linkTitle: 'Войти?', linkLead: 'Вы открыли ссылку из нашего письма. Продолжайте, только если запрашивали её.', otherWay: 'Войти другим способом', signIn: 'Войти', pitch: 'Небольшие приложения, вебхуки и данные вашей команды — на вашем сервере.',
  },
  kk: {
    title: 'Кіру', linkTitle: 'Кіресіз бе?', linkLead: 'Сіз біздің хаттағы сілтемені аштыңыз. Оны өзіңіз сұраған болсаңыз ғана жалғастырыңыз.', otherWay: 'Басқа жолмен кіру', signIn: 'Кіру', pitch: 'Командаңыздың шағын қолданбалары, вебхуктері мен деректері — өз серверіңізде.',
  },
});
