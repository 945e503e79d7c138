import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'New app', lead: 'An app is a manifest and some JavaScript. The manifest lists what the code may use.', apps: 'Apps', mayNot: 'Only builders and admins create apps. Ask an admin for the role.',
    name: 'Name', description: 'Description', descriptionHint: 'What it does, in a sentence. 4 to 280 characters.', archetype: 'Building', archetypeHint: 'How the city draws it.', category: 'Category',
    category_interface: 'Interface', category_data: 'Data', category_messaging: 'Messaging', category_money: 'Money', category_ai: 'AI', category_time: 'Time', category_people: 'People', category_growth: 'Growth',
    begin: 'Begin with', beginStarter: 'Starter code', beginStarterDetail: 'A few lines that work, to go on from.', beginFiles: 'Your files', beginFilesDetail: 'Drop a folder, or pick its files. main.js has the handlers.', beginNothing: 'Nothing yet', beginNothingDetail: 'A draft, whose code you write in the editor.',
    starter: 'What it does', starter_scheduled: 'Runs when an automation starts it', starter_fetch: 'Responds at an address', starter_both: 'Both', starter_approval: 'Asks a person before it goes on',
    dropHere: 'Drop a folder or files here', pickFolder: 'Choose a folder', pickFiles: 'Choose files', taken: { one: '{count} file, {size}', other: '{count} files, {size}' }, clearFiles: 'Remove', refused: 'Some files were left out:', refused_text: '{path} is not text in UTF-8.', refused_path: '{path} has a name with characters other than letters, digits, “-”, “_” and “.”.',
    noEntry: 'There is no {entry} among them. It is the module whose default export has the handlers.', tooMany: 'An app has at most {max} files.', tooLarge: 'The files of an app have at most {max} in all.',
    manifest: 'Manifest', manifestNone: 'Without one, the app may use nothing but its own code, and manual starts, webhooks and schedules may start it. You can add permissions later.', manifestWrite: 'Write the manifest now',
    nameFirst: 'Give it a name of at least two characters', filesFirst: 'Choose its files first', create: 'Create app', createDraft: 'Create draft', cancel: 'Cancel', created: '{name} was created.',
  },
  ru: {
    title: 'Новое приложение', lead: 'Приложение — это манифест и немного JavaScript. В манифесте перечислено, что коду можно использовать.', apps: 'Приложения', mayNot: 'Приложения создают только разработчики и администраторы. Попросите администратора дать вам роль.',
    name: 'Название', description: 'Описание', descriptionHint: 'Что оно делает, одним предложением. От 4 до 280 символов.', archetype: 'Здание', archetypeHint: 'Каким его рисует город.', category: 'Категория',
    category_interface: 'Интерфейс', category_data: 'Данные', category_messaging: 'Сообщения', category_money: 'Деньги', category_ai: 'ИИ', category_time: 'Время', category_people: 'Люди', category_growth: 'Рост',
    begin: 'С чего начать', beginStarter: 'Готовый пример', beginStarterDetail: 'Несколько рабочих строк, от которых можно продолжать.', beginFiles: 'Ваши файлы', beginFilesDetail: 'Перетащите папку или выберите файлы. Обработчики — в main.js.', beginNothing: 'Пока ни с чего', beginNothingDetail: 'Черновик, код которого вы напишете в редакторе.',
    starter: 'Что оно делает', starter_scheduled: 'Работает, когда его запускает автоматизация', starter_fetch: 'Отвечает по адресу', starter_both: 'И то, и другое', starter_approval: 'Спрашивает человека, прежде чем продолжить',
    dropHere: 'Перетащите сюда папку или файлы', pickFolder: 'Выбрать папку', pickFiles: 'Выбрать файлы', taken: { one: '{count} файл, {size}', few: '{count} файла, {size}', many: '{count} файлов, {size}' }, clearFiles: 'Убрать', refused: 'Некоторые файлы не взяты:', refused_text: '{path} — не текст в UTF-8.', refused_path: 'В имени {path} есть символы кроме букв, цифр, «-», «_» и «.».',
    noEntry: 'Среди них нет {entry} — модуля, экспорт по умолчанию которого содержит обработчики.', tooMany: 'В приложении не больше {max} файлов.', tooLarge: 'Файлы приложения занимают вместе не больше {max}.',
    manifest: 'Манифест', manifestNone: 'Без него приложению доступен только собственный код, а запускать его можно вручную, вебхуком и по расписанию. Разрешения можно добавить позже.', manifestWrite: 'Написать манифест сейчас',
    nameFirst: 'Дайте название хотя бы из двух символов', filesFirst: 'Сначала выберите файлы', create: 'Создать приложение', createDraft: 'Создать черновик', cancel: 'Отмена', created: 'Приложение «{name}» создано.',
  },
  kk: {
    title: 'Жаңа қолданба', lead: 'Қолданба — манифест пен аздаған JavaScript. Манифесте кодқа не пайдалануға болатыны жазылады.', apps: 'Қолданбалар', mayNot: 'Қолданбаларды тек құрастырушылар мен әкімшілер жасайды. Әкімшіден рөл сұраңыз.',
    name: 'Атауы', description: 'Сипаттамасы', descriptionHint: 'Не істейтіні, бір сөйлеммен. 4-тен 280 таңбаға дейін.', archetype: 'Ғимараты', archetypeHint: 'Қала оны қалай салады.', category: 'Санаты',
    category_interface: 'Интерфейс', category_data: 'Деректер', category_messaging: 'Хабарламалар', category_money: 'Ақша', category_ai: 'ЖИ', category_time: 'Уақыт', category_people: 'Адамдар', category_growth: 'Өсу',
    begin: 'Неден бастау керек', beginStarter: 'Дайын үлгі', beginStarterDetail: 'Әрі қарай жалғастыруға болатын бірнеше жұмыс істейтін жол.', beginFiles: 'Өз файлдарыңыз', beginFilesDetail: 'Қалтаны сүйреп әкеліңіз немесе файлдарын таңдаңыз. Өңдегіштер main.js файлында.', beginNothing: 'Әзірге ештеңеден', beginNothingDetail: 'Коды редакторда жазылатын қаралама.',
    starter: 'Ол не істейді', starter_scheduled: 'Автоматтандыру іске қосқанда жұмыс істейді', starter_fetch: 'Мекенжай бойынша жауап береді', starter_both: 'Екеуі де', starter_approval: 'Жалғастырмас бұрын адамнан сұрайды',
    dropHere: 'Қалтаны немесе файлдарды осында әкеліңіз', pickFolder: 'Қалтаны таңдау', pickFiles: 'Файлдарды таңдау', taken: { one: '{count} файл, {size}', other: '{count} файл, {size}' }, clearFiles: 'Алып тастау', refused: 'Кейбір файлдар алынбады:', refused_text: '{path} — UTF-8 мәтіні емес.', refused_path: '{path} атауында әріп, цифр, «-», «_» және «.» емес таңба бар.',
    noEntry: 'Олардың ішінде {entry} жоқ. Бұл — әдепкі экспортында өңдегіштер болатын модуль.', tooMany: 'Қолданбада ең көбі {max} файл болады.', tooLarge: 'Қолданба файлдарының жалпы көлемі ең көбі {max}.',
    manifest: 'Манифест', manifestNone: 'Онсыз қолданба тек өз кодын пайдаланады, ал оны қолмен, вебхукпен және кесте бойынша іске қосуға болады. Рұқсаттарды кейін қоса аласыз.', manifestWrite: 'Манифесті қазір жазу',
    nameFirst: 'Кемінде екі таңбалы атау беріңіз', filesFirst: 'Алдымен файлдарын таңдаңыз', create: 'Қолданба жасау', createDraft: 'Қаралама жасау', cancel: 'Бас тарту', created: '«{name}» жасалды.',
  },
});
