import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Log', mayNot: 'You may read the log only of apps that you may edit.', level: 'Level', level_info: 'Info and above', level_warn: 'Warnings and errors', level_error: 'Errors', run: 'Run', openRun: 'Open the run', search: 'Search the log', live: 'Live', connecting: 'Connecting…',
    none: 'Nothing was logged', noneBody: { one: 'Lines of console.log appear here, of runs when they have ended. They are kept for {count} day.', other: 'Lines of console.log appear here, of runs when they have ended. They are kept for {count} days.' }, noneAction: 'Start its automation', noneFound: 'No line fits these filters', showAll: 'Show all',
    upToLine: 'You see the log up to the line that the link leads to.', showNewest: 'Show the newest lines', loadOlder: 'Load older lines', beginning: { one: 'This is the beginning: lines are kept for {count} day.', other: 'This is the beginning: lines are kept for {count} days.' }, shown: { one: '{count} line', other: '{count} lines' },
    held: { one: '{count} new line. Follow the log to see it.', other: '{count} new lines. Follow the log to see them.' },
  },
  ru: {
    title: 'Журнал', mayNot: 'Читать журнал можно только у тех приложений, которые вам можно редактировать.', level: 'Уровень', level_info: 'От сведений и выше', level_warn: 'Предупреждения и ошибки', level_error: 'Ошибки', run: 'Запуск', openRun: 'Открыть запуск', search: 'Поиск по журналу', live: 'В эфире', connecting: 'Подключение…',
    none: 'В журнале пусто', noneBody: { one: 'Здесь появляются строки console.log; строки запуска — когда он завершится. Они хранятся {count} день.', few: 'Здесь появляются строки console.log; строки запуска — когда он завершится. Они хранятся {count} дня.', many: 'Здесь появляются строки console.log; строки запуска — когда он завершится. Они хранятся {count} дней.' }, noneAction: 'Запустить автоматизацию', noneFound: 'Нет строк с такими фильтрами', showAll: 'Показать все',
    upToLine: 'Показан журнал до той строки, на которую ведёт ссылка.', showNewest: 'Показать новые строки', loadOlder: 'Загрузить более старые', beginning: { one: 'Это начало: строки хранятся {count} день.', few: 'Это начало: строки хранятся {count} дня.', many: 'Это начало: строки хранятся {count} дней.' }, shown: { one: '{count} строка', few: '{count} строки', many: '{count} строк' },
    held: { one: '{count} новая строка. Чтобы её увидеть, следите за журналом.', few: '{count} новые строки. Чтобы их увидеть, следите за журналом.', many: '{count} новых строк. Чтобы их увидеть, следите за журналом.' },
  },
  kk: {
    title: 'Журнал', mayNot: 'Журналды тек өзіңіз өңдей алатын қолданбалардан оқуға болады.', level: 'Деңгейі', level_info: 'Мәлімет және одан жоғары', level_warn: 'Ескертулер мен қателер', level_error: 'Қателер', run: 'Іске қосу', openRun: 'Іске қосуды ашу', search: 'Журналдан іздеу', live: 'Тікелей', connecting: 'Қосылуда…',
    none: 'Журнал бос', noneBody: { one: 'Мұнда console.log жолдары көрінеді; іске қосудың жолдары ол аяқталғанда келеді. Олар {count} күн сақталады.', other: 'Мұнда console.log жолдары көрінеді; іске қосудың жолдары ол аяқталғанда келеді. Олар {count} күн сақталады.' }, noneAction: 'Автоматтандыруын іске қосу', noneFound: 'Бұл сүзгілерге сай жол жоқ', showAll: 'Бәрін көрсету',
    upToLine: 'Журнал сілтеме апаратын жолға дейін көрсетілген.', showNewest: 'Жаңа жолдарды көрсету', loadOlder: 'Ескірек жолдарды жүктеу', beginning: { one: 'Бұл — басы: жолдар {count} күн сақталады.', other: 'Бұл — басы: жолдар {count} күн сақталады.' }, shown: { one: '{count} жол', other: '{count} жол' },
    held: { one: '{count} жаңа жол бар. Көру үшін журналды бақылаңыз.', other: '{count} жаңа жол бар. Көру үшін журналды бақылаңыз.' },
  },
});
