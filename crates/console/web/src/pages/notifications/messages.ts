import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Notifications', lead: 'What needs somebody: apps and automations that keep failing, and connections that have stopped working. Kept for 30 days.', what: 'What happened', code: 'Code', channels: 'Also told by', when: 'When', unread: 'New',
    appFailing: 'The last three runs of the app “{app}” failed or were blocked.', automationFailing: 'The last three runs of the automation “{automation}” of the app “{app}” failed or were blocked.',
    secretRejected: 'The service of the connection “{connection}” rejects its secret.', permissionEnded: 'The permission of the connection “{connection}” has ended.', connectionDown: 'The connection “{connection}” has stopped working.', deleted: '(deleted)',
    repeats: { one: '{count} more in the same hour', other: '{count} more in the same hour' },
    byEmail: 'E-mail: {outcome}', byMessenger: 'Messenger: {outcome}', told: { one: 'sent to {count} person', other: 'sent to {count} people' },
    reason_pending: 'on its way', reason_not_configured: 'none, this server sends no e-mail', reason_no_recipients: 'none, nobody has it turned on', reason_repeated: 'none, one about this was sent within the hour', reason_rate_limited: 'none, too many were sent within the hour', reason_turned_off: 'none, it was turned off', reason_no_access: 'none, its recipients have no access any more', reason_rejected: 'refused by the recipient’s server', reason_expired: 'not accepted within a day',
    email: 'E-mail', emailMe: 'E-mail me about what I administer or made', emailHint: 'Owners, admins and whoever made the app get it: once an hour about the same object, and about at most 20 an hour in all.', noEmail: 'This server sends no e-mail.', emailOn: 'You get e-mail about this workspace.', emailOff: 'You get no e-mail about this workspace.', readOnly: 'You look at the workspace as somebody else. Nothing can be changed meanwhile.',
    none: 'Nothing needs you', noneBody: 'A notification appears here when three runs of an app or an automation in a row fail or are blocked, and when the service of a connection rejects its secret.', openRuns: 'Open runs',
  },
  ru: {
    title: 'Уведомления', lead: 'Что требует внимания: приложения и автоматизации с постоянными ошибками и подключения, которые перестали работать. Хранится 30 дней.', what: 'Что случилось', code: 'Код', channels: 'Как ещё сообщили', when: 'Когда', unread: 'Новое',
    appFailing: 'Последние три запуска приложения «{app}» завершились ошибкой или были заблокированы.', automationFailing: 'Последние три запуска автоматизации «{automation}» приложения «{app}» завершились ошибкой или были заблокированы.',
    secretRejected: 'Сервис отклоняет секрет подключения «{connection}».', permissionEnded: 'Срок разрешения подключения «{connection}» истёк.', connectionDown: 'Подключение «{connection}» перестало работать.', deleted: '(удалено)',
    repeats: { one: 'Ещё {count} раз за тот же час', few: 'Ещё {count} раза за тот же час', many: 'Ещё {count} раз за тот же час' },
    byEmail: 'Эл. почта: {outcome}', byMessenger: 'Мессенджер: {outcome}', told: { one: 'отправлено {count} человеку', few: 'отправлено {count} людям', many: 'отправлено {count} людям' },
    reason_pending: 'отправляется', reason_not_configured: 'нет, сервер не отправляет письма', reason_no_recipients: 'нет, её все отключили', reason_repeated: 'нет, об этом уже сообщалось в течение часа', reason_rate_limited: 'нет, за час отправлено слишком много', reason_turned_off: 'нет, её отключили', reason_no_access: 'нет, у получателей больше нет доступа', reason_rejected: 'не принято сервером получателя', reason_expired: 'не принято в течение суток',
    email: 'Эл. почта', emailMe: 'Писать мне о моих приложениях и о том, чем я управляю', emailHint: 'Письма получают владельцы, администраторы и создатель приложения: об одном и том же — раз в час, всего — не больше 20 уведомлений в час.', noEmail: 'Этот сервер не отправляет писем.', emailOn: 'Вы получаете письма об этом рабочем пространстве.', emailOff: 'Вы не получаете писем об этом рабочем пространстве.', readOnly: 'Вы смотрите на рабочее пространство глазами другой роли. Пока ничего нельзя изменить.',
    none: 'Ничто не требует внимания', noneBody: 'Уведомление появится здесь, когда три запуска приложения или автоматизации подряд завершатся ошибкой или будут заблокированы и когда сервис отклонит секрет подключения.', openRuns: 'Открыть запуски',
  },
  kk: {
    title: 'Хабарламалар', lead: 'Назар аударуды қажет ететіндер: қайта-қайта қатемен аяқталатын қолданбалар мен автоматтандырулар және жұмысын тоқтатқан қосылымдар. 30 күн сақталады.', what: 'Не болды', code: 'Код', channels: 'Тағы қалай хабарланды', when: 'Қашан', unread: 'Жаңа',
    appFailing: '«{app}» қолданбасының соңғы үш іске қосылуы қатемен аяқталды немесе бұғатталды.', automationFailing: '«{app}» қолданбасындағы «{automation}» автоматтандыруының соңғы үш іске қосылуы қатемен аяқталды немесе бұғатталды.',
    secretRejected: 'Қызмет «{connection}» қосылымының құпиясын қабылдамайды.', permissionEnded: '«{connection}» қосылымы рұқсатының мерзімі өтті.', connectionDown: '«{connection}» қосылымы жұмысын тоқтатты.', deleted: '(жойылған)',
    repeats: { one: 'Сол сағатта тағы {count} рет', other: 'Сол сағатта тағы {count} рет' },
    byEmail: 'Эл. пошта: {outcome}', byMessenger: 'Мессенджер: {outcome}', told: { one: '{count} адамға жіберілді', other: '{count} адамға жіберілді' },
    reason_pending: 'жіберілуде', reason_not_configured: 'жоқ, сервер хат жібермейді', reason_no_recipients: 'жоқ, бәрі өшіріп қойған', reason_repeated: 'жоқ, бұл туралы бір сағат ішінде хабарланған', reason_rate_limited: 'жоқ, бір сағатта тым көп жіберілді', reason_turned_off: 'жоқ, өшірілген', reason_no_access: 'жоқ, алушылардың енді рұқсаты жоқ', reason_rejected: 'алушының сервері қабылдамады', reason_expired: 'бір тәулік ішінде қабылданбады',
    email: 'Эл. пошта', emailMe: 'Мен басқаратын немесе жасаған нәрселер туралы маған хат жазу', emailHint: 'Хатты иелер, әкімшілер және қолданбаны жасаған адам алады: бір нысан туралы сағатына бір рет, барлығы сағатына ең көбі 20 хабарлама туралы.', noEmail: 'Бұл сервер хат жібермейді.', emailOn: 'Бұл жұмыс кеңістігі туралы хат аласыз.', emailOff: 'Бұл жұмыс кеңістігі туралы хат алмайсыз.', readOnly: 'Жұмыс кеңістігіне басқа рөлмен қарап тұрсыз. Әзірге ештеңені өзгертуге болмайды.',
    none: 'Назар аударатын ештеңе жоқ', noneBody: 'Қолданбаның немесе автоматтандырудың қатарынан үш іске қосылуы қатемен аяқталғанда немесе бұғатталғанда және қызмет қосылымның құпиясын қабылдамағанда, хабарлама осында пайда болады.', openRuns: 'Іске қосуларды ашу',
  },
});
