import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Templates', lead: 'Apps that work, to start from. Their code is yours to change.', apps: 'Apps', search: 'Search', none: 'No template fits', notFound: 'There is no such template', showAll: 'Show all',
    start_schedule: 'on a schedule', start_webhook: 'by webhook', start_form: 'by a form', start_manual: 'by hand', start_request: 'responds at an address',
    name: 'Name', nameFirst: 'Give it a name of at least two characters', choose: 'Choose…', project: 'Project for its rows', projectHint: 'Its tables: {tables}. Missing ones are created.', projectFirst: 'Choose a project first', noProject: 'There is no project to keep rows in that you may change. {link} first.', noProjectLink: 'Create one',
    connectionHint: 'A connection of {connectors}. {link}', connectLink: 'Connect a service', adminConnects: 'Only an admin can let an app use a connection.', missing: 'Still missing: {what}', numberWrong: 'Enter a number of at most 15 digits.', urlsHint: 'One URL a line.', secretLater: 'Afterwards, an admin gives {name} a value on the page of the app: {label}.',
    afterwards: 'Afterwards', create: 'Create app', others: 'Other templates', code: 'Code', created: '{name} was created.', mayNot: 'Only builders and admins create apps', readOnly: 'You look at the workspace as somebody else. Nothing can be changed meanwhile.',
  },
  ru: {
    title: 'Шаблоны', lead: 'Работающие приложения, с которых можно начать. Их код можно менять.', apps: 'Приложения', search: 'Поиск', none: 'Подходящих шаблонов нет', notFound: 'Такого шаблона нет', showAll: 'Показать все',
    start_schedule: 'по расписанию', start_webhook: 'вебхуком', start_form: 'формой', start_manual: 'вручную', start_request: 'отвечает по адресу',
    name: 'Название', nameFirst: 'Дайте название хотя бы из двух символов', choose: 'Выберите…', project: 'Проект для строк', projectHint: 'Таблицы: {tables}. Недостающие будут созданы.', projectFirst: 'Сначала выберите проект', noProject: 'Нет проекта для строк, который вам можно менять. Сначала {link}.', noProjectLink: 'создайте его',
    connectionHint: 'Подключение одного из сервисов: {connectors}. {link}', connectLink: 'Подключить сервис', adminConnects: 'Подключение приложению даёт только администратор.', missing: 'Ещё не задано: {what}', numberWrong: 'Введите число, в котором не больше 15 цифр.', urlsHint: 'По одному URL в строке.', secretLater: 'Потом администратор задаст значение {name} на странице приложения: {label}.',
    afterwards: 'После создания', create: 'Создать приложение', others: 'Другие шаблоны', code: 'Код', created: 'Приложение «{name}» создано.', mayNot: 'Приложения создают только разработчики и администраторы', readOnly: 'Вы смотрите на рабочее пространство глазами другой роли. Пока ничего нельзя изменить.',
  },
  kk: {
    title: 'Үлгілер', lead: 'Бастауға болатын, жұмыс істейтін қолданбалар. Кодын өзгерте аласыз.', apps: 'Қолданбалар', search: 'Іздеу', none: 'Сәйкес үлгі жоқ', notFound: 'Мұндай үлгі жоқ', showAll: 'Барлығын көрсету',
    start_schedule: 'кесте бойынша', start_webhook: 'вебхукпен', start_form: 'формамен', start_manual: 'қолмен', start_request: 'мекенжайда жауап береді',
    name: 'Атауы', nameFirst: 'Кемінде екі таңбалы атау беріңіз', choose: 'Таңдаңыз…', project: 'Жолдар сақталатын жоба', projectHint: 'Кестелері: {tables}. Жетпейтіні жасалады.', projectFirst: 'Алдымен жобаны таңдаңыз', noProject: 'Сіз өзгерте алатын, жол сақтайтын жоба жоқ. Алдымен {link}.', noProjectLink: 'жоба жасаңыз',
    connectionHint: 'Мына қызметтердің бірінің қосылымы: {connectors}. {link}', connectLink: 'Қызметті қосу', adminConnects: 'Қолданбаға қосылымды тек әкімші береді.', missing: 'Әлі берілмеген: {what}', numberWrong: '15 цифрдан аспайтын сан енгізіңіз.', urlsHint: 'Әр жолға бір URL.', secretLater: 'Кейін әкімші қолданба бетінде {name} мәнін береді: {label}.',
    afterwards: 'Жасалғаннан кейін', create: 'Қолданба жасау', others: 'Басқа үлгілер', code: 'Коды', created: '«{name}» қолданбасы жасалды.', mayNot: 'Қолданбаларды тек құрастырушылар мен әкімшілер жасайды', readOnly: 'Жұмыс кеңістігіне басқа рөлмен қарап тұрсыз. Әзірге ештеңені өзгертуге болмайды.',
  },
});
