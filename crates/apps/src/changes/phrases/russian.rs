//! Russian sentences.

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
            format!("Разрешить приложению обращаться к {host}.")
        }
        Step::AllowHost { host, methods } => {
            format!("Разрешить приложению обращаться к {host} методами {}.", join_methods(methods))
        }
        Step::ForbidHost { host, methods } if methods.is_empty() => {
            format!("Запретить приложению обращаться к {host}.")
        }
        Step::ForbidHost { host, methods } => {
            format!("Запретить приложению обращаться к {host} методами {}.", join_methods(methods))
        }
        Step::AllowConnection { name, binding } => {
            format!("Разрешить приложению подключение «{name}» как env.connections.{binding}.")
        }
        Step::ForbidConnection { binding } => {
            format!("Забрать у приложения подключение env.connections.{binding}.")
        }
        Step::AllowTable { table, project, access, binding } => {
            let access =
                if *access == DataAccess::Read { "читать" } else { "читать и изменять" };
            format!(
                "Разрешить приложению {access} таблицу {table} проекта «{project}» как env.data.{binding}."
            )
        }
        Step::ForbidTable { table, binding } => format!("Забрать таблицу {table} у env.data.{binding}."),
        Step::ForbidWriting { table, binding } => {
            format!("Разрешить приложению только читать таблицу {table} в env.data.{binding}.")
        }
        Step::ForbidProject { binding } => format!("Забрать у приложения проект env.data.{binding}."),
        Step::CreateSchedule { cron, timezone } => {
            format!(
                "Создать автоматизацию, которая запускает приложение по расписанию {cron}, часовой пояс {timezone}."
            )
        }
        Step::Reschedule { automation, cron, timezone } => {
            format!("Изменить расписание автоматизации «{automation}» на {cron}, часовой пояс {timezone}.")
        }
        Step::PauseSchedule { automation } => {
            format!("Приостановить автоматизацию по расписанию «{automation}».")
        }
        Step::Rename(name) => format!("Переименовать приложение в «{name}»."),
        Step::Describe(text) => format!("Изменить описание на «{}».", quote(text)),
        Step::Share(Sharing::Private) => "Закрыть общий доступ: приложение станет личным.".to_owned(),
        Step::Share(Sharing::Team) => "Открыть приложение участникам и разработчикам.".to_owned(),
        Step::Share(Sharing::Workspace) => "Открыть приложение всему рабочему пространству.".to_owned(),
        Step::AiBudget(amount) => format!("Изменить бюджет на модели ИИ на {amount} долларов США в месяц."),
        Step::ForbidAi => "Забрать у приложения модели ИИ.".to_owned(),
        Step::MinutesSaved(minutes) => format!("Считать, что каждый запуск экономит минут: {minutes}."),
        Step::Retries { automation, retries } => {
            format!(
                "Повторять неудачные запуски автоматизации «{automation}» не более стольких раз: {retries}."
            )
        }
    }
}

pub(super) fn note(note: &Note) -> String {
    match note {
        Note::NotUnderstood(it) => {
            let sentence = quote(&it.sentence);
            let why = match it.reason {
                Reason::Words => "Ничего из этого не запланировано.",
                Reason::Question => "Это вопрос; напишите, что изменить.",
                Reason::NoTime => "Назовите время суток, например в 9:00.",
                Reason::UnevenInterval => {
                    "Интервал должен делить час или сутки без остатка, например 15 минут или 6 часов."
                }
                Reason::DayOfMonth => "Назовите число от 1 до 28: такое есть в каждом месяце.",
                Reason::NoAccess => "Скажите, читать приложению таблицу или изменять.",
            };
            format!("Не понято: {sentence} {why}")
        }
        Note::Already(what) => format!("Менять нечего: {}.", quote(what)),
        Note::NoConnection(name) => {
            format!(
                "В рабочем пространстве нет подключения «{}». Его может создать администратор.",
                quote(name)
            )
        }
        Note::SeveralConnections(name) => {
            format!(
                "Под «{}» подходит несколько подключений. Напишите название одного в кавычках.",
                quote(name)
            )
        }
        Note::NoTable(name) => format!("Вам не видна таблица «{}».", quote(name)),
        Note::SeveralTables(name) => {
            format!("Таблица «{}» есть в нескольких проектах. Назовите проект.", quote(name))
        }
        Note::NoProject(name) => format!("Вам не виден проект «{}».", quote(name)),
        Note::WholeProject { table, binding } => format!(
            "env.data.{binding} разрешает больше таблиц, чем {table}; измените доступ на странице разрешений."
        ),
        Note::MayNotWrite { table, project } => format!(
            "Вам нельзя менять строки проекта «{project}», значит и приложению, которое вы правите: {table}."
        ),
        Note::MayNotShare => "Вам нельзя открывать это приложение другим.".to_owned(),
        Note::WholeHost(host) => {
            format!("Манифест называет хосты, а не пути: приложение сможет обращаться к любому пути {host}.")
        }
        Note::NoAutomation => "У приложения нет автоматизации, запуски которой можно повторять.".to_owned(),
        Note::SeveralSchedules(number) => {
            format!("Автоматизаций по расписанию у приложения: {number}. Измените нужную на её странице.")
        }
        Note::NoSchedule => "У приложения нет расписания.".to_owned(),
        Note::NoAi => "Приложению нельзя использовать модели ИИ, поэтому бюджета на них нет.".to_owned(),
        Note::RetriesBound => "Автоматизация повторяет неудачный запуск не более 5 раз.".to_owned(),
        Note::OutOfBounds(error) => format!("Вне допустимых границ: {error}."),
        Note::More(number) => format!("Ещё примечаний: {number}."),
    }
}

pub(super) fn outside_band(reason: &OutsideBand) -> String {
    match reason {
        OutsideBand::Permission(difference) | OutsideBand::Header(difference) => {
            format!("Приложение получает новый доступ. {}", difference.describe(kernel::Locale::Ru))
        }
        OutsideBand::Connector(name) => format!("Приложение получает новое подключение: {name}."),
        OutsideBand::Budget => "Растёт бюджет на модели ИИ.".to_owned(),
        OutsideBand::Sharing => "Приложение увидит больше людей.".to_owned(),
        OutsideBand::Trust => "Оценка доверия опускается в более низкий диапазон.".to_owned(),
        OutsideBand::Visitors => {
            "Приложение отвечает посетителям, и они смогут увидеть то, что оно получает из строк, секретов, подключений или моделей.".to_owned()
        }
    }
}
