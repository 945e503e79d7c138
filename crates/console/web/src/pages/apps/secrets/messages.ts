import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    title: 'Secrets', lead: 'Keys and credentials that the code uses and does not see. Nobody can read a value again.', add: 'Add secret', none: 'No secrets',
    noneBody: 'A secret is a key with which the code signs or encrypts, or a credential for a header. Name it in the manifest, or add it here first.', readOnly: 'You look at the workspace as somebody else. Nothing can be changed meanwhile.', adminsOnly: 'Only admins give and delete values',
    missing: { one: 'The code names {names}, which has no value.', other: 'The code names {names}, which have no values.' }, inClear: { one: 'The code gets {names} as text, and can send it anywhere that the app may send anything.', other: 'The code gets {names} as text, and can send them anywhere that the app may send anything.' },
    name: 'Name', value: 'Value', uses: 'Uses', hosts: 'Hosts', noValue: 'No value', somebody: 'Somebody', noHosts: 'None', undeclared: 'Not in the manifest', clear: 'In clear', clearWanted: 'Wanted in clear', allUses: 'All',
    use_sign: 'sign', use_verify: 'verify', use_encrypt: 'encrypt', use_decrypt: 'decrypt', use_deriveBits: 'derive', use_header: 'header',
    give: 'Give value', replace: 'Replace value', delete: 'Delete', deleteTitle: 'Delete the secret {name}?', deleteBody: 'Code that asks for it from now on fails.', deleted: 'The secret {name} was deleted.', saved: 'The secret {name} has a new value.', actionsFor: 'Actions for {name}',
    valueOf: 'Value of {name}', cancel: 'Cancel', save: 'Save', nameHint: 'As in env.secrets.NAME.', notAName: 'Use letters, digits and _, without a digit at the start', valueHint: 'It is sealed, and nobody can read it again.', valueNeeded: 'Enter the value', hostsHint: 'Hosts that it may be sent to in a header, separated by commas. Leave it empty for a key.', clearLabel: 'The code may have it as text', clearHint: 'Only if its manifest asks for that. Prefer a handle.',
  },
  ru: {
    title: 'Секреты', lead: 'Ключи и учётные данные, которые код использует, но не видит. Значение нельзя прочитать снова.', add: 'Добавить секрет', none: 'Секретов нет',
    noneBody: 'Секрет — это ключ, которым код подписывает или шифрует, или учётные данные для заголовка. Назовите его в манифесте или сначала добавьте здесь.', readOnly: 'Вы смотрите на рабочее пространство глазами другой роли. Пока ничего нельзя изменить.', adminsOnly: 'Значения задают и удаляют только администраторы',
    missing: { one: 'Код использует секрет без значения: {names}.', few: 'Код использует секреты без значений: {names}.', many: 'Код использует секреты без значений: {names}.' }, inClear: { one: 'Код получает секрет текстом и может отправить его всюду, куда разрешено приложению: {names}.', few: 'Код получает секреты текстом и может отправить их всюду, куда разрешено приложению: {names}.', many: 'Код получает секреты текстом и может отправить их всюду, куда разрешено приложению: {names}.' },
    name: 'Имя', value: 'Значение', uses: 'Применение', hosts: 'Хосты', noValue: 'Нет значения', somebody: 'Кто-то', noHosts: 'Нет', undeclared: 'Нет в манифесте', clear: 'Открытым текстом', clearWanted: 'Запрошен открытым текстом', allUses: 'Любое',
    use_sign: 'подпись', use_verify: 'проверка подписи', use_encrypt: 'шифрование', use_decrypt: 'расшифровка', use_deriveBits: 'вывод ключей', use_header: 'заголовок',
    give: 'Задать значение', replace: 'Заменить значение', delete: 'Удалить', deleteTitle: 'Удалить секрет {name}?', deleteBody: 'Код, который запросит его после этого, получит ошибку.', deleted: 'Секрет {name} удалён.', saved: 'У секрета {name} новое значение.', actionsFor: 'Действия: {name}',
    valueOf: 'Значение {name}', cancel: 'Отмена', save: 'Сохранить', nameHint: 'Как в env.secrets.NAME.', notAName: 'Латинские буквы, цифры и _, первой не может быть цифра', valueHint: 'Значение шифруется, и прочитать его снова нельзя.', valueNeeded: 'Введите значение', hostsHint: 'Хосты, которым его можно отправить в заголовке, через запятую. Для ключа оставьте пустым.', clearLabel: 'Код может получить его текстом', clearHint: 'Только если об этом просит манифест. Без этого надёжнее.',
  },
  kk: {
    title: 'Құпиялар', lead: 'Код пайдаланатын, бірақ көрмейтін кілттер мен тіркелгі деректері. Мәнін ешкім қайта оқи алмайды.', add: 'Құпия қосу', none: 'Құпия жоқ',
    noneBody: 'Құпия — код қол қоятын не шифрлайтын кілт немесе тақырыпқа арналған тіркелгі деректері. Оны манифесте атаңыз немесе алдымен осында қосыңыз.', readOnly: 'Жұмыс кеңістігіне басқа рөлдің көзімен қарап тұрсыз. Әзірге ештеңені өзгертуге болмайды.', adminsOnly: 'Мәндерді тек әкімшілер береді және жояды',
    missing: { one: 'Код мәні жоқ құпияны атайды: {names}.', other: 'Код мәні жоқ құпияларды атайды: {names}.' }, inClear: { one: 'Код құпияны мәтін ретінде алады және қолданбаға рұқсат етілген кез келген жерге жібере алады: {names}.', other: 'Код құпияларды мәтін ретінде алады және қолданбаға рұқсат етілген кез келген жерге жібере алады: {names}.' },
    name: 'Атауы', value: 'Мәні', uses: 'Қолданылуы', hosts: 'Хостар', noValue: 'Мәні жоқ', somebody: 'Біреу', noHosts: 'Жоқ', undeclared: 'Манифесте жоқ', clear: 'Ашық мәтін', clearWanted: 'Ашық мәтін сұралған', allUses: 'Кез келген',
    use_sign: 'қол қою', use_verify: 'қолды тексеру', use_encrypt: 'шифрлау', use_decrypt: 'шифрды ашу', use_deriveBits: 'кілт шығару', use_header: 'тақырып',
    give: 'Мән беру', replace: 'Мәнін ауыстыру', delete: 'Жою', deleteTitle: '{name} құпиясын жою керек пе?', deleteBody: 'Осыдан кейін оны сұраған код қате алады.', deleted: '{name} құпиясы жойылды.', saved: '{name} құпиясының мәні жаңарды.', actionsFor: 'Әрекеттер: {name}',
    valueOf: '{name} мәні', cancel: 'Бас тарту', save: 'Сақтау', nameHint: 'env.secrets.NAME ішіндегідей.', notAName: 'Латын әріптері, цифрлар және _; цифрдан басталмайды', valueHint: 'Ол шифрланады, оны ешкім қайта оқи алмайды.', valueNeeded: 'Мәнін енгізіңіз', hostsHint: 'Тақырыпта жіберуге болатын хостар, үтір арқылы. Кілт үшін бос қалдырыңыз.', clearLabel: 'Код оны мәтін ретінде ала алады', clearHint: 'Манифест соны сұраса ғана. Онсыз сенімдірек.',
  },
});
