// Sentences that the planner understands, to begin with. `docs/changes.md` has them all.

import type { Locale } from '#i18n';

export const EXAMPLES: Readonly<Record<Locale, readonly string[]>> = {
  en: [
    'Let the app read from api.example.com.',
    'Stop calling api.example.com.',
    'Use the connection "Team Slack".',
    'Let it read the table orders.',
    'Run every weekday at 9:00 in Asia/Almaty.',
    'Remove the schedule.',
    'Retry failed runs 3 times.',
    'Rename it to "Order desk".',
    'Share it with the team.',
    'Each run saves 15 minutes.',
  ],
  ru: [
    'Разреши читать из api.example.com.',
    'Запрети api.example.com.',
    'Используй подключение «Team Slack».',
    'Разреши читать таблицу orders.',
    'Запускай по будням в 9:00.',
    'Убери расписание.',
    'Повторяй неудачные запуски 3 раза.',
    'Переименуй в «Стол заказов».',
    'Поделись с командой.',
    'Каждый запуск экономит 15 минут.',
  ],
  kk: [
    'api.example.com хостынан оқуға рұқсат бер.',
    'api.example.com хостына тыйым сал.',
    '«Team Slack» қосылымын пайдалан.',
    'orders кестесін оқуға рұқсат бер.',
    'Күн сайын 9:00-де іске қос.',
    'Іске қосу кестесін алып таста.',
    '3 рет қайтала.',
    'Атын «Тапсырыстар» деп өзгерт.',
    'Командамен бөліс.',
    'Әр іске қосу 15 минут үнемдейді.',
  ],
};
