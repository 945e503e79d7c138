import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Sign in', email: 'E-mail address', emailHint: 'You get a code and a link. If you are new, this creates your account.', sendCode: 'Send code', or: 'or',
    signInWith: 'Sign in with {title}', passkey: 'Sign in with a passkey', passkeyCancelled: 'No passkey was used.', devLead: 'This server is for development: any address may sign in without proof.', devEmail: 'Address', devSignIn: 'Sign in without proof',
    codeTitle: 'Check your mail', codeLead: 'We sent a code to {email}. It expires after ten minutes.', code: 'Code', signIn: 'Sign in', resend: 'Send another code', resent: 'Another code is on its way.', otherEmail: 'Use another address',
    linkTitle: 'Sign in?', linkLead: 'You opened the link from our mail. Continue only if you asked for it.', otherWay: 'Sign in another way',
  },
  ru: {
    title: 'Вход', email: 'Адрес эл. почты', emailHint: 'Вы получите код и ссылку. Если вы здесь впервые, будет создан аккаунт.', sendCode: 'Отправить код', or: 'или',
    signInWith: 'Войти через {title}', passkey: 'Войти с ключом доступа', passkeyCancelled: 'Ключ доступа не использован.', devLead: 'Это сервер для разработки: с любым адресом можно войти без подтверждения.', devEmail: 'Адрес', devSignIn: 'Войти без подтверждения',
    codeTitle: 'Проверьте почту', codeLead: 'Мы отправили код на {email}. Он действует десять минут.', code: 'Код', signIn: 'Войти', resend: 'Отправить код ещё раз', resent: 'Новый код отправлен.', otherEmail: 'Другой адрес',
    linkTitle: 'Войти?', linkLead: 'Вы открыли ссылку из нашего письма. Продолжайте, только если запрашивали её.', otherWay: 'Войти другим способом',
  },
  kk: {
    title: 'Кіру', email: 'Эл. пошта мекенжайы', emailHint: 'Сізге код пен сілтеме келеді. Алғаш рет кірсеңіз, аккаунт құрылады.', sendCode: 'Код жіберу', or: 'немесе',
    signInWith: '{title} арқылы кіру', passkey: 'Кіру кілтімен кіру', passkeyCancelled: 'Кіру кілті қолданылмады.', devLead: 'Бұл — әзірлеуге арналған сервер: кез келген мекенжаймен растаусыз кіруге болады.', devEmail: 'Мекенжай', devSignIn: 'Растаусыз кіру',
    codeTitle: 'Поштаңызды тексеріңіз', codeLead: '{email} мекенжайына код жібердік. Ол он минутқа жарамды.', code: 'Код', signIn: 'Кіру', resend: 'Кодты қайта жіберу', resent: 'Жаңа код жіберілді.', otherEmail: 'Басқа мекенжай',
    linkTitle: 'Кіресіз бе?', linkLead: 'Сіз біздің хаттағы сілтемені аштыңыз. Оны өзіңіз сұраған болсаңыз ғана жалғастырыңыз.', otherWay: 'Басқа жолмен кіру',
  },
});
