import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Invite', join: 'Join {workspace}?', invites: '{inviter} invites you to the workspace {workspace}. Your role: {role}.', invited: 'You are invited to the workspace {workspace}. Your role: {role}.',
    accessEnds: 'Your access ends {when}.', expires: 'The invite is valid until {when}.', withThatAddress: 'Sign in with the e-mail address that the invite was sent to.', signIn: 'Sign in',
    signedInAs: 'You are signed in as {email}.', otherAccount: 'Use another account', accept: 'Join', home: 'Go to your workspaces',
    none: 'This invite does not work', noneBody: 'It was accepted or withdrawn, or it has expired. Ask the person who invited you for a new one.',
  },
  ru: {
    title: 'Приглашение', join: 'Присоединиться к {workspace}?', invites: '{inviter} приглашает вас в рабочее пространство {workspace}. Ваша роль: {role}.', invited: 'Вас приглашают в рабочее пространство {workspace}. Ваша роль: {role}.',
    accessEnds: 'Доступ закончится {when}.', expires: 'Приглашение действует до {when}.', withThatAddress: 'Войдите под адресом, на который отправлено приглашение.', signIn: 'Войти',
    signedInAs: 'Вы вошли как {email}.', otherAccount: 'Другой аккаунт', accept: 'Присоединиться', home: 'К рабочим пространствам',
    none: 'Приглашение не действует', noneBody: 'Его уже приняли или отозвали, либо срок истёк. Попросите новое у того, кто вас пригласил.',
  },
  kk: {
    title: 'Шақыру', join: '{workspace} кеңістігіне қосыласыз ба?', invites: '{inviter} сізді {workspace} жұмыс кеңістігіне шақырады. Рөліңіз: {role}.', invited: 'Сізді {workspace} жұмыс кеңістігіне шақырады. Рөліңіз: {role}.',
    accessEnds: 'Рұқсатыңыз аяқталатын уақыт: {when}.', expires: 'Шақыру {when} дейін жарамды.', withThatAddress: 'Шақыру жіберілген эл. пошта мекенжайымен кіріңіз.', signIn: 'Кіру',
    signedInAs: 'Сіз {email} ретінде кірдіңіз.', otherAccount: 'Басқа аккаунт', accept: 'Қосылу', home: 'Жұмыс кеңістіктеріне өту',
    none: 'Бұл шақыру жарамсыз', noneBody: 'Ол қабылданған, кері алынған немесе мерзімі өткен. Сізді шақырған адамнан жаңасын сұраңыз.',
  },
});
