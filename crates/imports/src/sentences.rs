//! Sentences of reports, in the language of the workspace.

mod schedules;

use kernel::Locale;

use crate::{cron::Change, javascript::comment};

/// A sentence about a step or a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sentence {
    Kept,
    Note,
    DoesNothing,
    Disabled,
    /// An expression that is not translated.
    Expression(String),
    UnknownType,
    /// A call of a service that is left to fill in.
    FillIn(String),
    NeedsConnection(String),
    SecretRemoved,
    /// An option that is not kept.
    Option(&'static str),
    /// Settings that are not read.
    Settings(String),
    /// Difference of a schedule from the original.
    Schedule(Change),
    /// A time zone that is not known, and the one that is used.
    UnknownZone(String, String),
    /// A call of a service with the settings that are used most.
    UsualSettings,
    Batches,
    Loop,
    OtherTrigger,
    Trigger,
    PollingTrigger,
    /// A service has to call the automation's webhook.
    ServiceTrigger,
    BodyOnly,
    NoResponse,
    PostOnly,
    FormPage,
    /// Another workflow called this one.
    CalledByWorkflow,
    Pagination,
    Code,
    /// Names that the code uses and that are not there.
    CodeNames(String),
    /// Names that the code sets without declaring them.
    DeclaredNames(String),
    CodeLanguage(String),
    CodeInvalid(String),
    DynamicHost,
    /// A header with credentials for a host that is not known.
    HeaderOfDynamicHost(&'static str),
    /// A header with credentials, and the host that it is sent to.
    CredentialHeader(&'static str, String),
    /// Headers that only the gate sets.
    HeadersNotSent(String),
    /// The body of a request whose method has none.
    BodyNotSent,
    UnreachableHost,
    SubStep,
    SubStepLost,
    ErrorsContinue,
    ErrorOutput,
    Wait,
    Merge,
    Files,
    OtherWorkflow,
    Model,
    Sleep,
    /// A setting of the tool that has no counterpart.
    Setting(String),
    /// A filter between modules.
    Context,
    Network,
    Catch,
    MessageClone,
    // About the whole.
    TooManySteps(usize),
    TooManyConnections(usize),
    TooManyConnectors(usize),
    TooManySecrets(usize),
    TooLarge,
    NoSteps,
    /// Names of workflows in the export that are not imported, and their number.
    OtherWorkflows(usize, String),
    DuplicateName(String),
    MissingStep(String),
    StartsManually,
    StartsByWebhook,
    StartsByForm,
    StartsBySchedule(String, String),
    Summary {
        steps: u32,
        exact: u32,
        partial: u32,
        unsupported: u32,
    },
    Connections(u32),
    Secrets(u32),
    /// Steps that follow one that is skipped.
    Dependents(String, String),
}

impl Sentence {
    /// Writes the sentence in a language.
    pub(crate) fn text(&self, locale: Locale) -> String {
        use Sentence as S;
        let in_languages = |en: &str, ru: &str, kk: &str| {
            match locale {
                Locale::En => en,
                Locale::Ru => ru,
                Locale::Kk => kk,
            }
            .to_owned()
        };
        match self {
            S::Kept => in_languages("Kept as it is.", "Сохраняется как есть.", "Сол күйінде сақталады."),
            S::Note => in_languages("A note for people.", "Заметка для людей.", "Адамдарға арналған жазба."),
            S::DoesNothing => in_languages(
                "Does nothing; its items pass through.",
                "Ничего не делает; элементы проходят дальше.",
                "Ештеңе істемейді; элементтер әрі қарай өтеді.",
            ),
            S::Disabled => in_languages(
                "Is turned off; its items pass through.",
                "Отключён; элементы проходят дальше.",
                "Өшірілген; элементтер әрі қарай өтеді.",
            ),
            S::Expression(text) => {
                let text = comment(text, 80);
                in_languages(
                    &format!("An expression is not translated, and the step fails where it is used: {text}"),
                    &format!("Выражение не переведено, шаг завершится ошибкой там, где оно нужно: {text}"),
                    &format!("Өрнек аударылмады, қадам оны қолданған жерде қатемен тоқтайды: {text}"),
                )
            }
            S::UnknownType => in_languages(
                "This type is not known. The run fails here until you write the function.",
                "Этот тип неизвестен. Запуск завершится здесь ошибкой, пока вы не напишете функцию.",
                "Бұл түр белгісіз. Функцияны жазғанша іске қосу осы жерде қатемен тоқтайды.",
            ),
            S::FillIn(name) => in_languages(
                &format!("The call of {name} is left to fill in; the run fails here until you write it."),
                &format!("Вызов {name} нужно дописать; до этого запуск завершится здесь ошибкой."),
                &format!("{name} шақыруын толықтыру керек; оған дейін іске қосу осы жерде қатемен тоқтайды."),
            ),
            S::NeedsConnection(name) => in_languages(
                &format!("Needs a connection: {name}."),
                &format!("Нужно подключение: {name}."),
                &format!("Қосылым керек: {name}."),
            ),
            S::SecretRemoved => in_languages(
                "A secret was in this step and was removed. Use a connection instead.",
                "В шаге был секрет, он удалён. Используйте подключение.",
                "Қадамда құпия болды, ол жойылды. Оның орнына қосылымды қолданыңыз.",
            ),
            S::Option(name) => in_languages(
                &format!("The option “{name}” is not kept."),
                &format!("Параметр «{name}» не сохраняется."),
                &format!("«{name}» параметрі сақталмайды."),
            ),
            S::Settings(names) => {
                let names = comment(names, 200);
                in_languages(
                    &format!("Settings that are not kept: {names}."),
                    &format!("Не сохраняются параметры: {names}."),
                    &format!("Сақталмайтын параметрлер: {names}."),
                )
            }
            S::Schedule(change) => schedules::text(*change, locale),
            S::UnknownZone(zone, used) => {
                let zone = comment(zone, 60);
                in_languages(
                    &format!("The time zone “{zone}” is not known; {used} is used."),
                    &format!("Часовой пояс «{zone}» неизвестен; используется {used}."),
                    &format!("«{zone}» уақыт белдеуі белгісіз; {used} қолданылады."),
                )
            }
            S::UsualSettings => in_languages(
                "The usual settings of this step are kept, others are not.",
                "Обычные параметры этого шага сохраняются, остальные нет.",
                "Бұл қадамның әдеттегі параметрлері сақталады, қалғандары жоқ.",
            ),
            S::Batches => in_languages(
                "All items go through the loop at once, not in batches.",
                "Все элементы проходят цикл сразу, а не пакетами.",
                "Барлық элемент циклден топтармен емес, бірден өтеді.",
            ),
            S::Loop => in_languages(
                "A link leads back to an earlier step; it is left out, so the steps run once.",
                "Связь ведёт назад к более раннему шагу; она опущена, и шаги выполняются один раз.",
                "Байланыс алдыңғы қадамға қайтарады; ол алынып тасталды, қадамдар бір рет орындалады.",
            ),
            S::OtherTrigger => in_languages(
                "Another trigger starts the workflow; an automation has one.",
                "Процесс запускает другой триггер; у автоматизации он один.",
                "Процесті басқа триггер бастайды; автоматтандыруда ол біреу ғана.",
            ),
            S::Trigger => in_languages(
                "Qala has no such trigger. Start the automation in another way.",
                "В Qala нет такого триггера. Запускайте автоматизацию иначе.",
                "Qala-да мұндай триггер жоқ. Автоматтандыруды басқаша бастаңыз.",
            ),
            S::PollingTrigger => in_languages(
                "The trigger polls a service, which is not kept. Start the automation in another way.",
                "Триггер опрашивает сервис; это не сохраняется. Запускайте автоматизацию иначе.",
                "Триггер сервисті сұрап тұрады, бұл сақталмайды. Автоматтандыруды басқаша бастаңыз.",
            ),
            S::ServiceTrigger => in_languages(
                "Let the service call the address of the automation's webhook.",
                "Пусть сервис вызывает адрес вебхука автоматизации.",
                "Сервис автоматтандыру вебхугінің мекенжайын шақырсын.",
            ),
            S::BodyOnly => in_languages(
                "Only the body of a call is kept; headers and the query are empty.",
                "Сохраняется только тело вызова; заголовки и параметры пусты.",
                "Шақырудың тек денесі сақталады; тақырыптар мен параметрлер бос.",
            ),
            S::NoResponse => in_languages(
                "The caller of a webhook is answered before the run; this response is not sent.",
                "Вызывающему вебхук ответ приходит до запуска; этот ответ не отправляется.",
                "Вебхукті шақырушыға жауап іске қосуға дейін беріледі; бұл жауап жіберілмейді.",
            ),
            S::PostOnly => in_languages(
                "Its address takes POST requests only.",
                "Его адрес принимает только запросы POST.",
                "Оның мекенжайы тек POST сұрауларын қабылдайды.",
            ),
            S::FormPage => in_languages(
                "The form has an address and no page: fields, choices and files of the original are not kept.",
                "У формы есть адрес, но нет страницы: поля, варианты и файлы оригинала не сохраняются.",
                "Форманың мекенжайы бар, беті жоқ: түпнұсқаның өрістері, таңдаулары мен файлдары сақталмайды.",
            ),
            S::CalledByWorkflow => in_languages(
                "Another workflow called it; here a person starts it.",
                "Его вызывал другой процесс; здесь его запускает человек.",
                "Оны басқа процесс шақыратын; мұнда адам бастайды.",
            ),
            S::Pagination => in_languages(
                "Only the first page is read: the option “pagination” is not kept.",
                "Читается только первая страница: параметр «pagination» не сохраняется.",
                "Тек бірінші бет оқылады: «pagination» параметрі сақталмайды.",
            ),
            S::Code => in_languages(
                "The code is kept as it was written; it runs in Qala's sandbox.",
                "Код сохраняется как написан; он выполняется в песочнице Qala.",
                "Код жазылған күйінде сақталады; ол Qala құмсалғышында орындалады.",
            ),
            S::CodeNames(names) => in_languages(
                &format!("The code uses what is not there: {names}."),
                &format!("Код использует то, чего здесь нет: {names}."),
                &format!("Код мұнда жоқ нәрсені қолданады: {names}."),
            ),
            S::DeclaredNames(names) => in_languages(
                &format!("Names that the code sets without declaring them are declared for it: {names}."),
                &format!("Имена, которые код задаёт без объявления, объявлены за него: {names}."),
                &format!("Код жарияламай қолданатын атаулар жарияланды: {names}."),
            ),
            S::CodeLanguage(language) => in_languages(
                &format!("Code in {language} is not kept."),
                &format!("Код на {language} не сохраняется."),
                &format!("{language} тіліндегі код сақталмайды."),
            ),
            S::CodeInvalid(error) => {
                let error = comment(error, 120);
                in_languages(
                    &format!("The code does not compile, and is kept as text: {error}"),
                    &format!("Код не компилируется и сохранён как текст: {error}"),
                    &format!("Код компиляцияланбайды, мәтін ретінде сақталды: {error}"),
                )
            }
            S::DynamicHost => in_languages(
                "The host is known only when the step runs; let the app call it.",
                "Хост известен только при выполнении; разрешите приложению обращаться к нему.",
                "Хост тек орындау кезінде белгілі; қолданбаға оған қатынасуға рұқсат беріңіз.",
            ),
            S::HeaderOfDynamicHost(header) => in_languages(
                &format!("Let the app set the header {header} for this host."),
                &format!("Разрешите приложению задавать для этого хоста заголовок {header}."),
                &format!("Қолданбаға осы хост үшін {header} тақырыбын орнатуға рұқсат беріңіз."),
            ),
            S::CredentialHeader(header, host) => in_languages(
                &format!("Sends the header {header} to {host} itself, which an admin has to agree to."),
                &format!(
                    "Сам отправляет заголовок {header} на {host}; на это нужно согласие администратора."
                ),
                &format!("{header} тақырыбын {host} хостына өзі жібереді, оған әкімшінің келісімі керек."),
            ),
            S::HeadersNotSent(names) => {
                let names = comment(names, 120);
                in_languages(
                    &format!("Headers that are not sent, because only the gate sets them: {names}."),
                    &format!(
                        "Заголовки, которые не отправляются, потому что их задаёт только шлюз: {names}."
                    ),
                    &format!("Тек шлюз орнататындықтан жіберілмейтін тақырыптар: {names}."),
                )
            }
            S::BodyNotSent => in_languages(
                "A GET request has no body here; this one is not sent.",
                "Здесь у запроса GET нет тела; оно не отправляется.",
                "Мұнда GET сұрауының денесі болмайды; ол жіберілмейді.",
            ),
            S::UnreachableHost => in_languages(
                "Apps reach named hosts of the internet only.",
                "Приложения обращаются только к именованным хостам интернета.",
                "Қолданбалар тек интернеттің атаулы хосттарына қатынасады.",
            ),
            S::SubStep => in_languages(
                "Is used by the step that it belongs to.",
                "Используется шагом, к которому относится.",
                "Өзі тиесілі қадамда қолданылады.",
            ),
            S::SubStepLost => in_languages(
                "Belongs to a step that is not kept.",
                "Относится к шагу, который не сохраняется.",
                "Сақталмайтын қадамға тиесілі.",
            ),
            S::ErrorsContinue => in_languages(
                "A failure ends the whole step and becomes one item.",
                "Ошибка завершает весь шаг и становится одним элементом.",
                "Қате бүкіл қадамды аяқтап, бір элементке айналады.",
            ),
            S::ErrorOutput => in_languages(
                "The output for errors is not kept; a failure ends the run.",
                "Выход для ошибок не сохраняется; ошибка завершает запуск.",
                "Қателер шығысы сақталмайды; қате іске қосуды аяқтайды.",
            ),
            S::Wait => in_languages(
                "Waits at most 20 seconds.",
                "Ждёт не более 20 секунд.",
                "Ең көбі 20 секунд күтеді.",
            ),
            S::Merge => in_languages(
                "Inputs are merged once, with all items of their branches.",
                "Входы объединяются один раз, со всеми элементами ветвей.",
                "Кірістер тармақтардың барлық элементімен бір рет біріктіріледі.",
            ),
            S::Files => in_languages(
                "Files are kept as text only.",
                "Файлы сохраняются только как текст.",
                "Файлдар тек мәтін ретінде сақталады.",
            ),
            S::OtherWorkflow => in_languages(
                "Another workflow, which is not in the export.",
                "Другой процесс, которого нет в экспорте.",
                "Экспортта жоқ басқа процесс.",
            ),
            S::Model => in_languages(
                "Asks the model once for each item; its options are kept in part.",
                "Обращается к модели один раз на элемент; параметры сохраняются частично.",
                "Әр элемент үшін модельге бір рет жүгінеді; параметрлері ішінара сақталады.",
            ),
            S::Sleep => in_languages(
                "Delays are limited to 20 seconds in all.",
                "Задержки ограничены 20 секундами.",
                "Кідірістер барлығы 20 секундпен шектелген.",
            ),
            S::Setting(name) => {
                let name = comment(name, 60);
                in_languages(
                    &format!("“{name}” is not kept."),
                    &format!("«{name}» не сохраняется."),
                    &format!("«{name}» сақталмайды."),
                )
            }
            S::Context => in_languages(
                "What the tool keeps between runs is not kept.",
                "Данные между запусками не сохраняются.",
                "Іске қосулар арасындағы деректер сақталмайды.",
            ),
            S::Network => in_languages(
                "Apps speak HTTP only.",
                "Приложения работают только по HTTP.",
                "Қолданбалар тек HTTP арқылы жұмыс істейді.",
            ),
            S::Catch => in_languages(
                "A failure ends the run; nothing follows it.",
                "Ошибка завершает запуск; за ней ничего не следует.",
                "Қате іске қосуды аяқтайды; одан кейін ештеңе болмайды.",
            ),
            S::MessageClone => in_languages(
                "Each message is processed in the order of the steps, not as it arrives.",
                "Сообщения обрабатываются в порядке шагов, а не по мере поступления.",
                "Хабарлар келу ретімен емес, қадамдар ретімен өңделеді.",
            ),
            S::TooManySteps(count) => in_languages(
                &format!("The workflow has {count} steps; 260 are possible."),
                &format!("В процессе {count} шагов; возможно 260."),
                &format!("Процесте {count} қадам бар; 260 мүмкін."),
            ),
            S::TooManyConnections(count) => in_languages(
                &format!("The workflow needs {count} connections; 12 are possible."),
                &format!("Процессу нужно подключений: {count}; возможно 12."),
                &format!("Процеске {count} қосылым керек; 12 мүмкін."),
            ),
            S::TooManyConnectors(count) => in_languages(
                &format!("The workflow needs {count} services of the catalogue; 6 are possible."),
                &format!("Процессу нужно сервисов каталога: {count}; возможно 6."),
                &format!("Процеске каталогтың {count} сервисі керек; 6 мүмкін."),
            ),
            S::TooManySecrets(count) => in_languages(
                &format!("The export has {count} secrets; 40 are possible. Move them into credentials."),
                &format!("В экспорте {count} секретов; возможно 40. Перенесите их в учётные данные."),
                &format!("Экспортта {count} құпия бар; 40 мүмкін. Оларды тіркелгі деректеріне көшіріңіз."),
            ),
            S::TooLarge => in_languages(
                "The app would be larger than 700 KiB.",
                "Приложение было бы больше 700 КиБ.",
                "Қолданба 700 КиБ-тан үлкен болар еді.",
            ),
            S::NoSteps => in_languages(
                "The workflow has no steps that could run.",
                "В процессе нет шагов, которые могли бы выполняться.",
                "Процесте орындала алатын қадам жоқ.",
            ),
            S::OtherWorkflows(count, names) => in_languages(
                &format!(
                    "Only the first workflow of the export is imported. Not imported ({count}): {names}."
                ),
                &format!(
                    "Импортируется только первый процесс экспорта. Не импортируются ({count}): {names}."
                ),
                &format!(
                    "Экспорттың бірінші процесі ғана импортталады. Импортталмайтындары ({count}): {names}."
                ),
            ),
            S::DuplicateName(name) => {
                let name = comment(name, 60);
                in_languages(
                    &format!("Several steps are called “{name}”; links and expressions mean the first."),
                    &format!("Несколько шагов называются «{name}»; связи и выражения относятся к первому."),
                    &format!(
                        "Бірнеше қадам «{name}» деп аталады; байланыстар мен өрнектер біріншісіне қатысты."
                    ),
                )
            }
            S::MissingStep(name) => {
                let name = comment(name, 60);
                in_languages(
                    &format!("A link leads to “{name}”, which is not in the export."),
                    &format!("Связь ведёт к «{name}», которого нет в экспорте."),
                    &format!("Байланыс экспортта жоқ «{name}» қадамына апарады."),
                )
            }
            S::StartsManually => in_languages("A person starts it.", "Запускает человек.", "Адам бастайды."),
            S::StartsByWebhook => in_languages(
                "A call of its webhook starts it.",
                "Запускает вызов вебхука.",
                "Вебхук шақыруы бастайды.",
            ),
            S::StartsByForm => in_languages(
                "A submitted form starts it.",
                "Запускает отправленная форма.",
                "Жіберілген форма бастайды.",
            ),
            S::StartsBySchedule(cron, timezone) => in_languages(
                &format!("Starts on the schedule {cron} ({timezone})."),
                &format!("Запускается по расписанию {cron} ({timezone})."),
                &format!("{cron} кестесі бойынша басталады ({timezone})."),
            ),
            S::Summary { steps, exact, partial, unsupported } => in_languages(
                &format!(
                    "Steps: {steps}. Kept as they are: {exact}, in part: {partial}, not kept: {unsupported}."
                ),
                &format!(
                    "Шагов: {steps}. Сохраняются как есть: {exact}, частично: {partial}, не сохраняются: {unsupported}."
                ),
                &format!(
                    "Қадамдар: {steps}. Сол күйінде сақталады: {exact}, ішінара: {partial}, сақталмайды: {unsupported}."
                ),
            ),
            S::Connections(count) => in_languages(
                &format!("Connections needed before it can be turned on: {count}."),
                &format!("Подключений нужно до включения: {count}."),
                &format!("Қоспас бұрын керек қосылымдар: {count}."),
            ),
            S::Secrets(count) => in_languages(
                &format!("Secrets removed from the export: {count}."),
                &format!("Секретов удалено из экспорта: {count}."),
                &format!("Экспорттан жойылған құпиялар: {count}."),
            ),
            S::Dependents(name, followers) => {
                let name = comment(name, 60);
                in_languages(
                    &format!("“{name}” is skipped, so nothing reaches: {followers}."),
                    &format!("«{name}» пропускается, поэтому ничего не получают: {followers}."),
                    &format!(
                        "«{name}» өткізіп жіберіледі, сондықтан мыналарға ештеңе жетпейді: {followers}."
                    ),
                )
            }
        }
    }
}
