import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Connect a command line', enterCode: 'Code that your command line shows', proceed: 'Continue', otherCode: 'Enter another code',
    question: 'Connect {client}?', intro: 'A command line asks to act for you. Continue only if you started it yourself a moment ago, and it shows this code:', code: 'Code',
    program: 'Program', machine: 'Machine', notProven: 'As the program says; not verified', notSaid: 'Not said', askedFrom: 'Requested from', unknown: 'Unknown', asked: 'Requested',
    may: 'It asks to', may_read: 'Read what you can see', may_write: 'Read, and change what you can change', may_admin: 'Read, change and manage all that you can', token: 'Token', forDays: { one: '{name}, for {count} day', other: '{name}, for {count} days' },
    workspace: 'Workspace', workspaceAndRole: '{name} ({role})', nowhere: 'You are in no workspace, so there is nothing to connect to. Create or join one first.', access: 'What you allow', accessRead: 'Only read', accessAsked: 'All that it asks for',
    deny: 'Do not allow', allow: 'Allow',
    outcome_approved: '{client} is connected', outcome_denied: 'Not allowed', outcome_expired: 'The code has expired',
    next_approved: 'Go back to your command line. You can revoke its token in the settings of the workspace.', next_denied: 'The command line gets no access. If you started it yourself, start it again.', next_expired: 'Start again in your command line: it shows a new code.',
  },
  ru: {
    title: 'Подключение командной строки', enterCode: 'Код из командной строки', proceed: 'Продолжить', otherCode: 'Ввести другой код',
    question: 'Подключить {client}?', intro: 'Командная строка просит разрешения действовать от вашего имени. Продолжайте, только если вы сами только что её запустили и она показывает этот код:', code: 'Код',
    program: 'Программа', machine: 'Компьютер', notProven: 'Со слов программы, не проверено', notSaid: 'Не указан', askedFrom: 'Откуда запрос', unknown: 'Неизвестно', asked: 'Когда',
    may: 'Просит', may_read: 'Читать то, что видите вы', may_write: 'Читать и изменять то, что можете изменять вы', may_admin: 'Читать, изменять и управлять всем, чем можете вы', token: 'Токен', forDays: { one: '{name}, на {count} день', few: '{name}, на {count} дня', many: '{name}, на {count} дней' },
    workspace: 'Рабочее пространство', workspaceAndRole: '{name} ({role})', nowhere: 'Вы не состоите ни в одном рабочем пространстве, подключаться некуда. Сначала создайте его или присоединитесь к нему.', access: 'Что вы разрешаете', accessRead: 'Только чтение', accessAsked: 'Всё, что она просит',
    deny: 'Не разрешать', allow: 'Разрешить',
    outcome_approved: 'Программа {client} подключена', outcome_denied: 'Не разрешено', outcome_expired: 'Срок действия кода истёк',
    next_approved: 'Вернитесь в командную строку. Отозвать её токен можно в настройках рабочего пространства.', next_denied: 'Командная строка не получит доступа. Если её запускали вы, запустите её ещё раз.', next_expired: 'Начните заново в командной строке: она покажет новый код.',
  },
  kk: {
    title: 'Пәрмен жолын қосу', enterCode: 'Пәрмен жолы көрсеткен код', proceed: 'Жалғастыру', otherCode: 'Басқа код енгізу',
    question: '{client} қосылсын ба?', intro: 'Пәрмен жолы сіздің атыңыздан әрекет етуге рұқсат сұрайды. Оны жаңа ғана өзіңіз іске қосқан болсаңыз және ол мына кодты көрсетсе ғана жалғастырыңыз:', code: 'Код',
    program: 'Бағдарлама', machine: 'Компьютер', notProven: 'Бағдарламаның айтуынша, тексерілмеген', notSaid: 'Айтылмаған', askedFrom: 'Сұрау қайдан келді', unknown: 'Белгісіз', asked: 'Қашан',
    may: 'Не сұрайды', may_read: 'Сіз көретін нәрселерді оқу', may_write: 'Оқу және сіз өзгерте алатын нәрселерді өзгерту', may_admin: 'Сіз басқара алатынның бәрін оқу, өзгерту және басқару', token: 'Токен', forDays: { one: '{name}, {count} күнге', other: '{name}, {count} күнге' },
    workspace: 'Жұмыс кеңістігі', workspaceAndRole: '{name} ({role})', nowhere: 'Сіз ешбір жұмыс кеңістігінде жоқсыз, қосылатын жер жоқ. Алдымен жұмыс кеңістігін құрыңыз немесе біреуіне қосылыңыз.', access: 'Не рұқсат етесіз', accessRead: 'Тек оқу', accessAsked: 'Сұрағанының бәрі',
    deny: 'Рұқсат бермеу', allow: 'Рұқсат беру',
    outcome_approved: '{client} қосылды', outcome_denied: 'Рұқсат берілмеді', outcome_expired: 'Кодтың мерзімі өтті',
    next_approved: 'Пәрмен жолына оралыңыз. Оның токенін жұмыс кеңістігінің баптауларында кері қайтарып алуға болады.', next_denied: 'Пәрмен жолы рұқсат алмайды. Оны өзіңіз іске қосқан болсаңыз, қайта іске қосыңыз.', next_expired: 'Пәрмен жолында қайта бастаңыз: ол жаңа код көрсетеді.',
  },
});
