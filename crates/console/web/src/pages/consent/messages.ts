import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Permission for an agent', question: 'Allow {name} to act for you?', asks: '{name} asks for access to {resource} in your name.',
    who: 'Who asks', notProven: 'Not verified: the program chose its own name', provenBy: 'Verified by {host}', recognized: '{publisher}, verified by {host}', claims: 'Claims to be from', claimsHint: 'Not verified',
    answerTo: 'Response goes to', you: 'You', localWarning: 'The response goes to a program on this device. Continue only if you have just started that program yourself.', nameWarning: 'Anybody can give a program any name. Check where the response goes.',
    workspace: 'Workspace', workspaceAndRole: '{name} ({role})', nowhere: 'You are in no workspace, so there is nothing to allow.', access: 'What it may do', read: 'Read what you can see', write: 'Read, and change what you can change',
    deny: 'Do not allow', allow: 'Allow', revoke: 'You can revoke access at any time, in the settings of the workspace.',
    outcome_allowed: 'Allowed', outcome_denied: 'Not allowed', goBack: 'Go back to {name}. You can close this page.',
    over: 'This request has ended', overWhy: 'There is nothing to decide: the request is already decided, or it has expired.', overNext: 'Start again in the program that sent you here.',
  },
  ru: {
    title: 'Разрешение для агента', question: 'Разрешить {name} действовать от вашего имени?', asks: '{name} просит доступ к {resource} от вашего имени.',
    who: 'Кто просит', notProven: 'Не подтверждено: программа сама выбрала себе имя', provenBy: 'Подтверждено хостом {host}', recognized: '{publisher}, подтверждено хостом {host}', claims: 'Называет своим сайтом', claimsHint: 'Не подтверждено',
    answerTo: 'Ответ уйдёт на', you: 'Вы', localWarning: 'Ответ получит программа на этом устройстве. Продолжайте, только если вы сами только что её запустили.', nameWarning: 'Назвать программу можно как угодно. Проверьте, куда уйдёт ответ.',
    workspace: 'Рабочее пространство', workspaceAndRole: '{name} ({role})', nowhere: 'Вы не состоите ни в одном рабочем пространстве, разрешать нечего.', access: 'Что ей можно', read: 'Читать то, что видите вы', write: 'Читать и изменять то, что можете изменять вы',
    deny: 'Не разрешать', allow: 'Разрешить', revoke: 'Доступ можно отозвать в любой момент в настройках рабочего пространства.',
    outcome_allowed: 'Разрешено', outcome_denied: 'Не разрешено', goBack: 'Вернитесь в {name}. Эту страницу можно закрыть.',
    over: 'Этот запрос завершён', overWhy: 'Решать здесь нечего: решение уже принято или прошло слишком много времени.', overNext: 'Начните заново в программе, которая направила вас сюда.',
  },
  kk: {
    title: 'Агентке рұқсат', question: '{name} сіздің атыңыздан әрекет етсін бе?', asks: '{name} сіздің атыңыздан {resource} қызметіне рұқсат сұрайды.',
    who: 'Кім сұрайды', notProven: 'Расталмаған: бағдарлама атауын өзі таңдаған', provenBy: '{host} хосы растаған', recognized: '{publisher}, {host} хосы растаған', claims: 'Өз сайты деп атайды', claimsHint: 'Расталмаған',
    answerTo: 'Жауап жіберілетін жер', you: 'Сіз', localWarning: 'Жауапты осы құрылғыдағы бағдарлама алады. Оны жаңа ғана өзіңіз іске қосқан болсаңыз ғана жалғастырыңыз.', nameWarning: 'Бағдарламаға кез келген атау беруге болады. Жауап қайда жіберілетінін тексеріңіз.',
    workspace: 'Жұмыс кеңістігі', workspaceAndRole: '{name} ({role})', nowhere: 'Сіз ешбір жұмыс кеңістігінде жоқсыз, рұқсат беретін ештеңе жоқ.', access: 'Оған не істеуге болады', read: 'Сіз көретін нәрселерді оқу', write: 'Оқу және сіз өзгерте алатын нәрселерді өзгерту',
    deny: 'Рұқсат бермеу', allow: 'Рұқсат беру', revoke: 'Рұқсатты жұмыс кеңістігінің баптауларында кез келген уақытта кері қайтарып алуға болады.',
    outcome_allowed: 'Рұқсат берілді', outcome_denied: 'Рұқсат берілмеді', goBack: '{name} бағдарламасына оралыңыз. Бұл бетті жабуға болады.',
    over: 'Бұл сұрау аяқталды', overWhy: 'Мұнда шешетін ештеңе жоқ: шешім қабылданған немесе тым көп уақыт өтті.', overNext: 'Сізді осында жіберген бағдарламада қайта бастаңыз.',
  },
});
