import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    email: 'E-mail address', emailHint: 'You get a code and a link. If you are new, this creates your account.', sendCode: 'Send code', or: 'or', signInWith: 'Sign in with {title}', passkey: 'Sign in with a passkey', passkeyCancelled: 'No passkey was used.', devLead: 'This server is for development: any address may sign in, without a code.', devSignIn: 'Sign in without a code', codeTitle: 'Check your mail', codeLead: 'We sent a code to {email}. It expires after ten minutes.', code: 'Code', signIn: 'Sign in', resend: 'Send another code', resent: 'Another code is on its way.', otherEmail: 'Use another address', againTitle: 'Sign in again', againLead: 'Your session has ended. What you entered is still here; once you have signed in, the page goes on.', notNow: 'Not now',
  },
  ru: {
    email: 'Адрес эл. почты', emailHint: 'Вы получите код и ссылку. Если вы здесь впервые, будет создан аккаунт.', sendCode: 'Отправить код', or: 'или', signInWith: 'Войти через {title}', passkey: 'Войти с ключом доступа', passkeyCancelled: 'Ключ доступа не использован.', devLead: 'Это сервер для разработки: с любым адресом можно войти без кода.', devSignIn: 'Войти без кода', codeTitle: 'Проверьте почту', codeLead: 'Мы отправили код на {email}. Он действует десять минут.', code: 'Код', signIn: 'Войти', resend: 'Отправить код ещё раз', resent: 'Новый код отправлен.', otherEmail: 'Другой адрес', againTitle: 'Войдите ещё раз', againLead: 'Сеанс завершён. Всё, что вы ввели, на месте; после входа страница продолжит работу.', notNow: 'Не сейчас',
  },
  kk: {
    email: 'Эл. пошта мекенжайы', emailHint: 'Сізге код пен сілтеме келеді. Алғаш рет кірсеңіз, аккаунт құрылады.', sendCode: 'Код жіберу', or: 'немесе', signInWith: '{title} арқылы кіру', passkey: 'Кіру кілтімен кіру', passkeyCancelled: 'Кіру кілті қолданылмады.', devLead: 'Бұл — әзірлеуге арналған сервер: кез келген мекенжаймен кодсыз кіруге болады.', devSignIn: 'Кодсыз кіру', codeTitle: 'Поштаңызды тексеріңіз', codeLead: '{email} мекенжайына код жібердік. Ол он минутқа жарамды.', code: 'Код', signIn: 'Кіру', resend: 'Кодты қайта жіберу', resent: 'Жаңа код жіберілді.', otherEmail: 'Басқа мекенжай', againTitle: 'Қайта кіріңіз', againLead: 'Сеансыңыз аяқталды. Енгізгеніңіз осында сақтаулы; кірген соң бет жұмысын жалғастырады.', notNow: 'Қазір емес',
  },
});
