import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Queue', lead: 'Work in flight now, and what waits for a person.', inFlight: 'In flight', lastHour: 'In the last hour', queued: 'Queued', running: 'Running', putOff: 'For later', putOffAbout: 'Delayed, or to be retried', waiting: 'Wait for a person', oldest: 'Oldest {when}',
    succeeded: 'Succeeded', failed: 'Failed', blocked: 'Blocked', deadLetters: 'Dead letters', open: 'Open', forApproval: 'Waiting for approval', nobodyWaits: 'Nothing waits for an answer', nobodyWaitsBody: 'When a run asks a person, the question appears here.', more: 'Load more',
    approve: 'Approve', refuse: 'Refuse', approved: 'Approved. The run goes on.', refused: 'Refused. The run goes on.', answerBy: 'Without an answer by {when}, it counts as refused.', mayNotDecide: 'Only people who may edit the app decide',
  },
  ru: {
    title: 'Очередь', lead: 'Что выполняется сейчас и что ждёт человека.', inFlight: 'В работе', lastHour: 'За последний час', queued: 'В очереди', running: 'Выполняется', putOff: 'Позже', putOffAbout: 'Отложено или будет повторено', waiting: 'Ждут человека', oldest: 'Самый старый: {when}',
    succeeded: 'Успешно', failed: 'С ошибкой', blocked: 'Заблокировано', deadLetters: 'Недоставленные', open: 'Открыто', forApproval: 'Ждут одобрения', nobodyWaits: 'Ничто не ждёт ответа', nobodyWaitsBody: 'Когда запуск спросит человека, вопрос появится здесь.', more: 'Загрузить ещё',
    approve: 'Одобрить', refuse: 'Отклонить', approved: 'Одобрено. Запуск продолжается.', refused: 'Отклонено. Запуск продолжается.', answerBy: 'Срок ответа — {when}, затем вопрос считается отклонённым.', mayNotDecide: 'Решают только те, кто может изменять приложение',
  },
  kk: {
    title: 'Кезек', lead: 'Қазір не орындалып жатыр және не адамды күтуде.', inFlight: 'Жұмыста', lastHour: 'Соңғы сағатта', queued: 'Кезекте', running: 'Орындалуда', putOff: 'Кейінірек', putOffAbout: 'Кейінге қалған немесе қайталанатын', waiting: 'Адамды күтуде', oldest: 'Ең ескісі: {when}',
    succeeded: 'Сәтті', failed: 'Қате', blocked: 'Бұғатталған', deadLetters: 'Жеткізілмегендер', open: 'Ашық', forApproval: 'Мақұлдауды күтуде', nobodyWaits: 'Жауап күтіп тұрған ештеңе жоқ', nobodyWaitsBody: 'Іске қосу адамнан сұрағанда, сұрақ осында шығады.', more: 'Тағы жүктеу',
    approve: 'Мақұлдау', refuse: 'Қабылдамау', approved: 'Мақұлданды. Іске қосу жалғасады.', refused: 'Қабылданбады. Іске қосу жалғасады.', answerBy: 'Жауап беру мерзімі — {when}, одан кейін қабылданбаған деп саналады.', mayNotDecide: 'Қолданбаны өзгерте алатындар ғана шешеді',
  },
});
