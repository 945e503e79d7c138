import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    openPlans: { one: '{count} plan waits for you', other: '{count} plans wait for you' }, change: 'Change', app: 'App', until: 'Until',
    replayBlocked: { one: 'Replay the blocked run', other: 'Replay the {count} blocked runs' }, stillBlocked: { one: '{count} run was stopped at {hosts}, which the app may reach now.', other: '{count} runs were stopped at {hosts}, which the app may reach now.' }, replayed: { one: '{count} run was started again.', other: '{count} runs were started again.' }, seeRuns: 'See runs', onlyNewest: 'Only the newest {count} blocked runs of the app were read.',
    whatToChange: 'What should change?', whatToChangeHint: 'One thing or several, in English, Russian or Kazakh. You read the plan before anything changes.', plan: 'Plan it', writeFirst: 'Write a sentence first', noVersion: 'The app has no version yet. Write its code first.',
    examples: 'Sentences to begin with', rules: 'Name each host, connection and table. Put new texts in quotation marks. What is not understood is in the notes of the plan, and is left out.',
    state_planned: 'Planned', state_building: 'In progress', state_live: 'Live', state_failed: 'Failed', state_expired: 'Expired', expires: 'You can approve it until {when}.',
    gains: 'The app gains', losses: 'The app loses', triggers: 'What starts it', steps: 'Steps', needsConsole: 'Why a person approves it here', manifest: 'Manifest', adminFirst: 'Only an admin can give an app a connection. Ask one to plan this change.',
    approve: 'Approve', isLive: 'The change is live.', nothing: 'The plan changes nothing', openEditor: 'Open in the editor', another: 'Plan another change', seeVersions: 'See versions',
  },
  ru: {
    openPlans: { one: 'Вас ждёт {count} план', few: 'Вас ждут {count} плана', many: 'Вас ждут {count} планов' }, change: 'Изменение', app: 'Приложение', until: 'До',
    replayBlocked: { one: 'Повторить {count} заблокированный запуск', few: 'Повторить {count} заблокированных запуска', many: 'Повторить {count} заблокированных запусков' }, stillBlocked: { one: '{count} запуск остановлен у {hosts}; теперь доступ есть.', few: '{count} запуска остановлены у {hosts}; теперь доступ есть.', many: '{count} запусков остановлены у {hosts}; теперь доступ есть.' }, replayed: { one: '{count} запуск начат заново.', few: '{count} запуска начаты заново.', many: '{count} запусков начаты заново.' }, seeRuns: 'Открыть запуски', onlyNewest: 'Прочитаны только последние заблокированные запуски приложения: {count}.',
    whatToChange: 'Что изменить?', whatToChangeHint: 'Одно или несколько изменений, по-английски, по-русски или по-казахски. Сначала вы прочитаете план.', plan: 'Составить план', writeFirst: 'Сначала напишите предложение', noVersion: 'У приложения ещё нет версии. Сначала напишите код.',
    examples: 'С чего начать', rules: 'Называйте каждый хост, подключение и таблицу. Новые тексты пишите в кавычках. Непонятое попадает в примечания плана и не выполняется.',
    state_planned: 'Запланировано', state_building: 'Выполняется', state_live: 'Действует', state_failed: 'Не удалось', state_expired: 'Истекло', expires: 'Утвердить можно до {when}.',
    gains: 'Приложение получает', losses: 'Приложение теряет', triggers: 'Что его запускает', steps: 'Шаги', needsConsole: 'Почему это утверждает человек', manifest: 'Манифест', adminFirst: 'Подключение приложению даёт только администратор. Попросите его составить этот план.',
    approve: 'Утвердить', isLive: 'Изменение действует.', nothing: 'План ничего не меняет', openEditor: 'Открыть в редакторе', another: 'Составить другой план', seeVersions: 'Посмотреть версии',
  },
  kk: {
    openPlans: { one: 'Сізді {count} жоспар күтіп тұр', other: 'Сізді {count} жоспар күтіп тұр' }, change: 'Өзгеріс', app: 'Қолданба', until: 'Дейін',
    replayBlocked: { one: '{count} бұғатталған іске қосуды қайталау', other: '{count} бұғатталған іске қосуды қайталау' }, stillBlocked: { one: '{count} іске қосу {hosts} хостында тоқтатылған; енді оған рұқсат бар.', other: '{count} іске қосу {hosts} хостында тоқтатылған; енді оған рұқсат бар.' }, replayed: { one: '{count} іске қосу қайта басталды.', other: '{count} іске қосу қайта басталды.' }, seeRuns: 'Іске қосуларды ашу', onlyNewest: 'Қолданбаның тек соңғы бұғатталған іске қосулары оқылды: {count}.',
    whatToChange: 'Нені өзгерту керек?', whatToChangeHint: 'Бір немесе бірнеше өзгеріс, ағылшынша, орысша не қазақша. Алдымен жоспарды оқисыз.', plan: 'Жоспарлау', writeFirst: 'Алдымен сөйлем жазыңыз', noVersion: 'Қолданбаның нұсқасы әлі жоқ. Алдымен кодын жазыңыз.',
    examples: 'Неден бастауға болады', rules: 'Әр хостты, қосылымды және кестені атаңыз. Жаңа мәтінді тырнақшаға алыңыз. Түсініксізі жоспардың ескертпелеріне жазылады да, орындалмайды.',
    state_planned: 'Жоспарланған', state_building: 'Орындалуда', state_live: 'Күшінде', state_failed: 'Орындалмады', state_expired: 'Мерзімі өтті', expires: 'Мақұлдау мерзімі — {when}.',
    gains: 'Қолданба алады', losses: 'Қолданба жоғалтады', triggers: 'Оны не іске қосады', steps: 'Қадамдар', needsConsole: 'Неге мұны адам мақұлдайды', manifest: 'Манифест', adminFirst: 'Қолданбаға қосылымды тек әкімші береді. Бұл өзгерісті жоспарлауды одан сұраңыз.',
    approve: 'Мақұлдау', isLive: 'Өзгеріс күшіне енді.', nothing: 'Жоспар ештеңені өзгертпейді', openEditor: 'Редакторда ашу', another: 'Басқа өзгеріс жоспарлау', seeVersions: 'Нұсқаларды көру',
  },
});
