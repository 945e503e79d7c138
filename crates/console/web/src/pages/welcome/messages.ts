import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'New workspace', titleFirst: 'Create your workspace', lead: 'A workspace is what your team shares: apps, data, runs and people.',
    joinTitle: 'Your team is here already', joinMembers: { one: '{count} member', other: '{count} members' }, join: 'Join', back: 'Back',
    name: 'Name', nameHint: 'Your team or company. You can change it later.', size: 'Size of the team', size_solo: 'Just me', size_small: '2 to 10 people', size_medium: '11 to 50 people', size_large: 'More than 50 people',
    profileIs: 'Data protection: {profile}', profile: 'Data protection rules', profileHint: 'It decides the region, and with “Kazakhstan, strict” which services can be connected. You cannot change it later.', profile_global: 'Global', profile_eu: 'European Union', 'profile_kz-standard': 'Kazakhstan', 'profile_kz-strict': 'Kazakhstan, strict',
    intents: 'What is it for?', intent_internal_tools: 'Internal tools', intent_customer_app: 'An app for customers', intent_automations: 'Automations', intent_data: 'Data', intent_ai: 'AI', intent_other: 'Something else',
    create: 'Create workspace',
  },
  ru: {
    title: 'Новое рабочее пространство', titleFirst: 'Создайте рабочее пространство', lead: 'В рабочем пространстве у команды всё общее: приложения, данные, запуски и люди.',
    joinTitle: 'Ваша команда уже здесь', joinMembers: { one: '{count} участник', few: '{count} участника', many: '{count} участников' }, join: 'Присоединиться', back: 'Назад',
    name: 'Название', nameHint: 'Ваша команда или компания. Можно изменить позже.', size: 'Размер команды', size_solo: 'Только я', size_small: 'От 2 до 10 человек', size_medium: 'От 11 до 50 человек', size_large: 'Больше 50 человек',
    profileIs: 'Защита данных: {profile}', profile: 'Правила защиты данных', profileHint: 'Определяет регион, а при «Казахстан, строго» — и то, какие сервисы можно подключить. Потом изменить нельзя.', profile_global: 'Глобальные', profile_eu: 'Европейский союз', 'profile_kz-standard': 'Казахстан', 'profile_kz-strict': 'Казахстан, строгие',
    intents: 'Для чего оно?', intent_internal_tools: 'Внутренние инструменты', intent_customer_app: 'Приложение для клиентов', intent_automations: 'Автоматизации', intent_data: 'Данные', intent_ai: 'ИИ', intent_other: 'Другое',
    create: 'Создать рабочее пространство',
  },
  kk: {
    title: 'Жаңа жұмыс кеңістігі', titleFirst: 'Жұмыс кеңістігін құрыңыз', lead: 'Жұмыс кеңістігінде команданың бәрі ортақ: қолданбалар, деректер, іске қосулар және адамдар.',
    joinTitle: 'Командаңыз осында', joinMembers: { one: '{count} мүше', other: '{count} мүше' }, join: 'Қосылу', back: 'Артқа',
    name: 'Атауы', nameHint: 'Командаңыз не компанияңыз. Кейін өзгертуге болады.', size: 'Команда мөлшері', size_solo: 'Тек мен', size_small: '2–10 адам', size_medium: '11–50 адам', size_large: '50 адамнан көп',
    profileIs: 'Деректерді қорғау: {profile}', profile: 'Деректерді қорғау ережелері', profileHint: 'Аймақты, ал «Қазақстан, қатаң» болса, қандай қызметтерді қосуға болатынын анықтайды. Кейін өзгерту мүмкін емес.', profile_global: 'Жаһандық', profile_eu: 'Еуропалық одақ', 'profile_kz-standard': 'Қазақстан', 'profile_kz-strict': 'Қазақстан, қатаң',
    intents: 'Ол не үшін керек?', intent_internal_tools: 'Ішкі құралдар', intent_customer_app: 'Клиенттерге арналған қолданба', intent_automations: 'Автоматтандыру', intent_data: 'Деректер', intent_ai: 'ЖИ', intent_other: 'Басқа',
    create: 'Жұмыс кеңістігін құру',
  },
});
