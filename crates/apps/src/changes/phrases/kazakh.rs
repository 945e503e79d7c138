//! Kazakh sentences.

use kernel::authority::Sharing;

use super::{join_methods, quote};
use crate::{
    changes::{
        draft::{Note, Step},
        instruction::Reason,
    },
    manifest::DataAccess,
    safe_band::OutsideBand,
};

pub(super) fn step(step: &Step) -> String {
    match step {
        Step::AllowHost { host, methods } if methods.is_empty() => {
            format!("Қолданбаға {host} хостына сұрау жіберуге рұқсат беру.")
        }
        Step::AllowHost { host, methods } => format!(
            "Қолданбаға {host} хостына {} әдісімен сұрау жіберуге рұқсат беру.",
            join_methods(methods)
        ),
        Step::ForbidHost { host, methods } if methods.is_empty() => {
            format!("Қолданбаға {host} хостына сұрау жіберуге тыйым салу.")
        }
        Step::ForbidHost { host, methods } => {
            format!("Қолданбаға {host} хостына {} әдісімен сұрау жіберуге тыйым салу.", join_methods(methods))
        }
        Step::AllowConnection { name, binding } => {
            format!(
                "Қолданбаға «{name}» қосылымын env.connections.{binding} ретінде пайдалануға рұқсат беру."
            )
        }
        Step::ForbidConnection { binding } => {
            format!("Қолданбадан env.connections.{binding} қосылымын алып тастау.")
        }
        Step::AllowTable { table, project, access, binding } => {
            let access =
                if *access == DataAccess::Read { "оқуға" } else { "оқуға және жазуға" };
            format!(
                "Қолданбаға «{project}» жобасының {table} кестесін env.data.{binding} ретінде {access} рұқсат беру."
            )
        }
        Step::ForbidTable { table, binding } => {
            format!("{table} кестесін env.data.{binding} ішінен алып тастау.")
        }
        Step::ForbidWriting { table, binding } => {
            format!("Қолданбаға env.data.{binding} ішіндегі {table} кестесін тек оқуға рұқсат беру.")
        }
        Step::ForbidProject { binding } => format!("Қолданбадан env.data.{binding} жобасын алып тастау."),
        Step::CreateSchedule { cron, timezone } => {
            format!(
                "Қолданбаны {timezone} уақытымен {cron} кестесі бойынша іске қосатын автоматтандыру жасау."
            )
        }
        Step::Reschedule { automation, cron, timezone } => {
            format!("«{automation}» автоматтандыруының кестесін {timezone} уақытымен {cron} етіп өзгерту.")
        }
        Step::PauseSchedule { automation } => {
            format!("Кесте бойынша істейтін «{automation}» автоматтандыруын тоқтата тұру.")
        }
        Step::Rename(name) => format!("Қолданбаның атын «{name}» деп өзгерту."),
        Step::Describe(text) => format!("Сипаттаманы «{}» деп өзгерту.", quote(text)),
        Step::Share(Sharing::Private) => "Қолданбаны жеке ету: оны басқалар көрмейді.".to_owned(),
        Step::Share(Sharing::Team) => "Қолданбаны мүшелер мен құрастырушыларға ашу.".to_owned(),
        Step::Share(Sharing::Workspace) => "Қолданбаны бүкіл жұмыс кеңістігіне ашу.".to_owned(),
        Step::AiBudget(amount) => format!("ЖИ модельдерінің бюджетін айына {amount} АҚШ доллары ету."),
        Step::ForbidAi => "Қолданбадан ЖИ модельдерін алып тастау.".to_owned(),
        Step::MinutesSaved(minutes) => format!("Әр іске қосу {minutes} минут үнемдейді деп санау."),
        Step::Retries { automation, retries } => {
            format!("«{automation}» автоматтандыруының сәтсіз іске қосуларын ең көбі {retries} рет қайталау.")
        }
    }
}

pub(super) fn note(note: &Note) -> String {
    match note {
        Note::NotUnderstood(it) => {
            let sentence = quote(&it.sentence);
            let why = match it.reason {
                Reason::Words => "Одан ештеңе жоспарланбады.",
                Reason::Question => "Бұл — сұрақ; нені өзгерту керегін жазыңыз.",
                Reason::NoTime => "Уақытын атаңыз, мысалы сағат 9:00-де.",
                Reason::UnevenInterval => {
                    "Аралық сағатты немесе тәулікті тең бөлуі керек, мысалы 15 минут немесе 6 сағат."
                }
                Reason::DayOfMonth => "Әр айда бар күнді атаңыз: 1-ден 28-ге дейін.",
                Reason::NoAccess => "Қолданба кестені оқи ма, әлде жаза ма — соны айтыңыз.",
            };
            format!("Түсініксіз: {sentence} {why}")
        }
        Note::Already(what) => format!("Өзгертетін ештеңе жоқ: {}.", quote(what)),
        Note::NoConnection(name) => {
            format!("Жұмыс кеңістігінде «{}» қосылымы жоқ. Оны әкімші жасай алады.", quote(name))
        }
        Note::SeveralConnections(name) => {
            format!(
                "«{}» атауына бірнеше қосылым сәйкес келеді. Біреуінің атын тырнақшаға алып жазыңыз.",
                quote(name)
            )
        }
        Note::NoTable(name) => format!("Сізге «{}» кестесі көрінбейді.", quote(name)),
        Note::SeveralTables(name) => format!("«{}» кестесі бірнеше жобада бар. Жобасын атаңыз.", quote(name)),
        Note::NoProject(name) => format!("Сізге «{}» жобасы көрінбейді.", quote(name)),
        Note::WholeProject { table, binding } => format!(
            "env.data.{binding} {table} кестесінен көп кестеге рұқсат береді; рұқсатты рұқсаттар бетінде өзгертіңіз."
        ),
        Note::MayNotWrite { table, project } => format!(
            "Сізге «{project}» жобасының жолдарын өзгертуге болмайды, сондықтан сіз өзгертетін қолданбаға да: {table}."
        ),
        Note::MayNotShare => "Сізге бұл қолданбаны басқаларға ашуға болмайды.".to_owned(),
        Note::WholeHost(host) => {
            format!(
                "Манифест жолдарды емес, хосттарды атайды: қолданба {host} хостының кез келген жолына сұрау жібере алады."
            )
        }
        Note::NoAutomation => "Қолданбада қайталайтын автоматтандыру жоқ.".to_owned(),
        Note::SeveralSchedules(number) => {
            format!(
                "Қолданбада кесте бойынша істейтін {number} автоматтандыру бар. Керегін өз бетінде өзгертіңіз."
            )
        }
        Note::NoSchedule => "Қолданбада іске қосу кестесі жоқ.".to_owned(),
        Note::NoAi => {
            "Қолданбаға ЖИ модельдерін пайдалануға болмайды, сондықтан олардың бюджеті жоқ.".to_owned()
        }
        Note::RetriesBound => "Автоматтандыру сәтсіз іске қосуды ең көбі 5 рет қайталайды.".to_owned(),
        Note::OutOfBounds(error) => format!("Рұқсат етілген шектен тыс: {error}."),
        Note::More(number) => format!("Тағы {number} ескертпе бар."),
    }
}

pub(super) fn outside_band(reason: &OutsideBand) -> String {
    match reason {
        OutsideBand::Permission(difference) | OutsideBand::Header(difference) => {
            format!("Қолданба жаңа рұқсат алады. {}", difference.describe(kernel::Locale::Kk))
        }
        OutsideBand::Connector(name) => format!("Қолданба жаңа қосылым алады: {name}."),
        OutsideBand::Budget => "ЖИ модельдерінің бюджеті өседі.".to_owned(),
        OutsideBand::Sharing => "Қолданбаны көбірек адам көреді.".to_owned(),
        OutsideBand::Trust => "Сенім бағасы төменгі деңгейге түседі.".to_owned(),
        OutsideBand::Visitors => {
            "Қолданба келушілерге жауап береді, сондықтан олар оның жолдардан, құпиялардан, қосылымдардан немесе модельдерден алғанын көре алады.".to_owned()
        }
    }
}
