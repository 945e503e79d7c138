import { defineMessages } from '#i18n';

export const t = defineMessages({
  en: {
    versions: 'Versions', version: 'Version', state: 'State', trust: 'Trust', origin: 'Origin', by: 'By', when: 'When', hash: 'Hash', files: 'Files', notRunnable: 'Cannot run', somebodyGone: 'Somebody who left', kind_build: 'Built', kind_edit: 'Written', kind_seed: 'Sample',
    none: 'No version yet', noneBody: 'A version is the code and the manifest as they were when somebody saved them.', writeCode: 'Write code', compare: 'Compare', chooseTwo: 'Choose two versions', compareTwo: 'Compare {earlier} and {later}',
    titleOf: 'Version {number}', notFound: 'There is no version {number}', allVersions: 'All versions', compareWith: 'Compare with', option: '{number} · {summary}', permissions: 'Permissions, from version {from} to {to}',
    reuse: 'Use these files as a new version', reuseHint: 'To change it first:', rollBack: 'Roll back', rollBackTo: 'Roll back to this version', rollBackTitle: 'Go back from version {from} to version {to}?', rollBackBody: 'Version {to} becomes the current one at once; nothing is built. Runs that have started keep version {from}.', rolledBack: 'Version {number} is the current one again.', rollbacks: 'Rollbacks', rollbackLine: '{name} went from version {from} to version {to}.', sameFiles: 'Files and manifest are the same.', changedFiles: { one: '{count} file differs', other: '{count} files differ' }, change_added: 'added', change_removed: 'deleted', change_changed: 'changed',
  },
  ru: {
    versions: 'Версии', version: 'Версия', state: 'Состояние', trust: 'Доверие', origin: 'Происхождение', by: 'Автор', when: 'Когда', hash: 'Хеш', files: 'Файлы', notRunnable: 'Нельзя запустить', somebodyGone: 'Ушедший участник', kind_build: 'Собрана', kind_edit: 'Написана', kind_seed: 'Пример',
    none: 'Версий пока нет', noneBody: 'Версия — это код и манифест в том виде, в каком их сохранили.', writeCode: 'Написать код', compare: 'Сравнить', chooseTwo: 'Выберите две версии', compareTwo: 'Сравнить {earlier} и {later}',
    titleOf: 'Версия {number}', notFound: 'Версии {number} нет', allVersions: 'Все версии', compareWith: 'Сравнить с', option: '{number} · {summary}', permissions: 'Разрешения: от версии {from} к {to}',
    reuse: 'Взять эти файлы как новую версию', reuseHint: 'Чтобы сначала изменить её:', rollBack: 'Вернуться', rollBackTo: 'Вернуться к этой версии', rollBackTitle: 'Вернуться с версии {from} к версии {to}?', rollBackBody: 'Версия {to} сразу станет текущей, ничего не собирается. Начатые запуски остаются на версии {from}.', rolledBack: 'Версия {number} снова текущая.', rollbacks: 'Возвраты', rollbackLine: '{name}: с версии {from} на версию {to}.', sameFiles: 'Файлы и манифест одинаковы.', changedFiles: { one: 'Отличается {count} файл', few: 'Отличаются {count} файла', many: 'Отличаются {count} файлов' }, change_added: 'добавлен', change_removed: 'удалён', change_changed: 'изменён',
  },
  kk: {
    versions: 'Нұсқалар', version: 'Нұсқа', state: 'Күйі', trust: 'Сенім', origin: 'Шығу тегі', by: 'Авторы', when: 'Қашан', hash: 'Хеш', files: 'Файлдар', notRunnable: 'Іске қосылмайды', somebodyGone: 'Кеткен қатысушы', kind_build: 'Жиналған', kind_edit: 'Жазылған', kind_seed: 'Үлгі',
    none: 'Әзірге нұсқа жоқ', noneBody: 'Нұсқа — сақталған сәттегі код пен манифест.', writeCode: 'Код жазу', compare: 'Салыстыру', chooseTwo: 'Екі нұсқаны таңдаңыз', compareTwo: '{earlier} және {later} нұсқаларын салыстыру',
    titleOf: '{number}-нұсқа', notFound: '{number}-нұсқа жоқ', allVersions: 'Барлық нұсқалар', compareWith: 'Мынамен салыстыру', option: '{number} · {summary}', permissions: 'Рұқсаттар: {from}-нұсқадан {to}-нұсқаға',
    reuse: 'Осы файлдарды жаңа нұсқа ретінде алу', reuseHint: 'Алдымен оны өзгерту үшін:', rollBack: 'Қайту', rollBackTo: 'Осы нұсқаға қайту', rollBackTitle: '{from}-нұсқадан {to}-нұсқаға қайту керек пе?', rollBackBody: '{to}-нұсқа бірден ағымдағы болады, ештеңе жиналмайды. Басталған іске қосулар {from}-нұсқада қалады.', rolledBack: '{number}-нұсқа қайтадан ағымдағы.', rollbacks: 'Қайтулар', rollbackLine: '{name}: {from}-нұсқадан {to}-нұсқаға.', sameFiles: 'Файлдары мен манифесі бірдей.', changedFiles: { one: '{count} файлда айырмашылық бар', other: '{count} файлда айырмашылық бар' }, change_added: 'қосылды', change_removed: 'жойылды', change_changed: 'өзгерді',
  },
});
