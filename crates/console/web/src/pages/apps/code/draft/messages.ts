import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Try it', lead: 'Runs what is in the editor with the permissions of the current version. What it writes and sends is real.', handler: 'Handler', scheduled: 'scheduled: an event', fetch: 'fetch: a request', data: 'event.data', method: 'Method', path: 'Path', body: 'Body', run: 'Run draft',
    noVersion: 'The app has no version yet, so there are no permissions to run with', pathFirst: 'A path begins with /', nothingYet: 'What the draft does appears here.', take: 'Restore draft', remove: 'Delete my draft', draftFirst: 'Choose between your saved draft and what is in the editor first',
    took: '{duration} ms', rows: { one: '{count} row written', other: '{count} rows written' }, plan: 'Plan a change', refused: '{request} was refused: the manifest does not allow it.', closed: '{request} was refused: no open gate allows it. Ask an admin.',
    response: 'Response', cut: 'The rest is not shown.', base64: 'It is not text, so it is shown as base64.', headers: { one: '{count} header', other: '{count} headers' }, log: 'Log of the draft', calls: { one: '{count} call', other: '{count} calls' },
  },
  ru: {
    title: 'Попробовать', lead: 'Запускает код из редактора с разрешениями текущей версии. Всё, что он записывает и отправляет, — настоящее.', handler: 'Обработчик', scheduled: 'scheduled: событие', fetch: 'fetch: запрос', data: 'event.data', method: 'Метод', path: 'Путь', body: 'Тело', run: 'Запустить черновик',
    noVersion: 'У приложения ещё нет версии, а значит и разрешений', pathFirst: 'Путь начинается с /', nothingYet: 'Здесь появится, что сделал черновик.', take: 'Восстановить черновик', remove: 'Удалить мой черновик', draftFirst: 'Сначала выберите между сохранённым черновиком и тем, что в редакторе',
    took: '{duration} мс', rows: { one: 'записана {count} строка', few: 'записаны {count} строки', many: 'записано {count} строк' }, plan: 'Составить план', refused: 'Запрос {request} отклонён: манифест его не разрешает.', closed: 'Запрос {request} отклонён: нет открытых ворот. Попросите администратора.',
    response: 'Ответ', cut: 'Остальное не показано.', base64: 'Это не текст, поэтому показано в base64.', headers: { one: '{count} заголовок', few: '{count} заголовка', many: '{count} заголовков' }, log: 'Журнал черновика', calls: { one: '{count} вызов', few: '{count} вызова', many: '{count} вызовов' },
  },
  kk: {
    title: 'Байқап көру', lead: 'Редактордағы кодты ағымдағы нұсқаның рұқсаттарымен іске қосады. Жазғаны мен жібергенінің бәрі шын.', handler: 'Өңдегіш', scheduled: 'scheduled: оқиға', fetch: 'fetch: сұрау', data: 'event.data', method: 'Әдіс', path: 'Жол', body: 'Денесі', run: 'Қараламаны іске қосу',
    noVersion: 'Қолданбаның нұсқасы әлі жоқ, сондықтан рұқсаттары да жоқ', pathFirst: 'Жол / таңбасынан басталады', nothingYet: 'Қараламаның не істегені осында көрінеді.', take: 'Қараламаны қалпына келтіру', remove: 'Қараламамды жою', draftFirst: 'Алдымен сақталған қаралама мен редактордағы кодтың бірін таңдаңыз',
    took: '{duration} мс', rows: { one: '{count} жол жазылды', other: '{count} жол жазылды' }, plan: 'Өзгеріс жоспарлау', refused: '{request} сұрауы қабылданбады: манифест рұқсат бермейді.', closed: '{request} сұрауы қабылданбады: ашық қақпа жоқ. Әкімшіден сұраңыз.',
    response: 'Жауап', cut: 'Қалғаны көрсетілмеген.', base64: 'Бұл мәтін емес, сондықтан base64 түрінде көрсетілген.', headers: { one: '{count} тақырып', other: '{count} тақырып' }, log: 'Қаралама журналы', calls: { one: '{count} шақыру', other: '{count} шақыру' },
  },
});
