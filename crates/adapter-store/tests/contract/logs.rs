//! Lines of log.

use kernel::authority::Sharing;
use kernel::id::RunId;
use observability::{LogLevel, LogLine, LogQuery, LogRead as _, LogSink as _, LogSource, NewLogLine};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    lines_are_read_as_they_were_written,
    only_as_loud_as_asked,
    text_is_found_whatever_its_case,
    signs_of_patterns_stand_for_themselves,
    lines_come_in_pages,
    the_answers_of_an_app_fill_a_day,
);

const ALL: LogQuery = LogQuery { level: None, source: None, text: None, run: None, before: None, limit: 100 };

fn line(level: LogLevel, message: &str) -> NewLogLine {
    NewLogLine::new(at(1), level, LogSource::App, message.to_owned())
}

async fn append_lines(world: &World, messages: &[&str]) {
    let lines = messages.iter().map(|message| line(LogLevel::Info, message)).collect();
    world.store.append_log(world.workspace, world.app, lines, Vec::new()).await.unwrap();
}

async fn lines(world: &World, query: LogQuery) -> Vec<LogLine> {
    world.store.log_lines(world.workspace, world.app, &query).await.unwrap()
}

async fn messages(world: &World, query: LogQuery) -> Vec<String> {
    lines(world, query).await.into_iter().map(|line| line.content.message).collect()
}

async fn lines_are_read_as_they_were_written(database: Database) {
    let world = World::new(database).await;
    let written = [
        line(LogLevel::Debug, "first\0line"),
        NewLogLine::new(at(2), LogLevel::Warn, LogSource::Platform, "қала".to_owned()),
        NewLogLine::new(at(3), LogLevel::Error, LogSource::Gate, String::new()),
    ];
    world.store.append_log(world.workspace, world.app, written.to_vec(), Vec::new()).await.unwrap();
    world.store.append_log(world.workspace, world.app, Vec::new(), Vec::new()).await.unwrap();
    let found = lines(&world, ALL).await;
    assert_eq!(found.iter().rev().map(|line| line.content.clone()).collect::<Vec<_>>(), written);
    assert!(found.iter().all(|line| line.app == world.app && line.run.is_none()));
    assert!(found.is_sorted_by(|newer, older| newer.id > older.id));

    let other_app = world.id();
    world.add_app(other_app, Sharing::Team).await;
    assert_eq!(world.store.log_lines(world.workspace, other_app, &ALL).await.unwrap(), []);
    assert_eq!(world.store.log_lines(world.id(), world.app, &ALL).await.unwrap(), []);
    let of_run = LogQuery { run: Some(world.id::<kernel::id::kind::Run>() as RunId), ..ALL };
    assert_eq!(lines(&world, of_run).await, []);
}

async fn only_as_loud_as_asked(database: Database) {
    let world = World::new(database).await;
    let levels = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
    let all = levels.iter().map(|level| line(*level, level.as_str())).collect();
    world.store.append_log(world.workspace, world.app, all, Vec::new()).await.unwrap();
    let expected = ["error", "warn", "info", "debug"];
    for (count, level) in (1..).zip(levels.iter().rev()) {
        assert_eq!(messages(&world, LogQuery { level: Some(*level), ..ALL }).await, expected[..count]);
    }
}

async fn text_is_found_whatever_its_case(database: Database) {
    let world = World::new(database).await;
    append_lines(&world, &["Payment FAILED", "Оплата ПРОШЛА", "Қала ашық", "straße"]).await;
    for (text, found) in [
        ("failed", "Payment FAILED"),
        ("PAYMENT f", "Payment FAILED"),
        ("прошла", "Оплата ПРОШЛА"),
        ("ОПЛАТА", "Оплата ПРОШЛА"),
        ("қала", "Қала ашық"),
        ("ҚАЛА АШ", "Қала ашық"),
        ("STRAß", "straße"),
    ] {
        assert_eq!(
            messages(&world, LogQuery { text: Some(text.to_owned()), ..ALL }).await,
            [found],
            "{text}"
        );
    }
    let none = LogQuery { text: Some("refused".to_owned()), ..ALL };
    assert_eq!(messages(&world, none).await, [] as [&str; 0]);
}

async fn signs_of_patterns_stand_for_themselves(database: Database) {
    let world = World::new(database).await;
    let odd = ["50%", "a_b", r"c:\d", "x*y", "[z]", "what?", "^caret", "it's $1", "a-b]"];
    append_lines(&world, &odd).await;
    for text in odd {
        assert_eq!(messages(&world, LogQuery { text: Some(text.to_owned()), ..ALL }).await, [text], "{text}");
    }
    for (text, count) in [
        ("%", 1),
        ("_", 1),
        ("\\", 1),
        ("*", 1),
        ("?", 1),
        ("[", 1),
        ("]", 2),
        ("^", 1),
        ("'", 1),
        ("a%b", 0),
    ] {
        let found = messages(&world, LogQuery { text: Some(text.to_owned()), ..ALL }).await;
        assert_eq!(found.len(), count, "{text}: {found:?}");
    }
    assert_eq!(messages(&world, LogQuery { text: Some(String::new()), ..ALL }).await.len(), odd.len());
}

async fn lines_come_in_pages(database: Database) {
    let world = World::new(database).await;
    append_lines(&world, &["1", "2", "3", "4", "5"]).await;
    let first = lines(&world, LogQuery { limit: 2, ..ALL }).await;
    // One more than the limit tells that another page follows.
    assert_eq!(first.iter().map(|line| line.content.message.as_str()).collect::<Vec<_>>(), ["5", "4", "3"]);
    let second = LogQuery { limit: 2, before: Some(first[1].id), ..ALL };
    assert_eq!(messages(&world, second).await, ["3", "2", "1"]);
    assert_eq!(messages(&world, LogQuery { before: Some(u64::MAX), ..ALL }).await.len(), 5);
}

async fn the_answers_of_an_app_fill_a_day(database: Database) {
    let world = World::new(database).await;
    append_lines(&world, &["first"]).await;
    let volume = async || {
        world.query_scalar::<i64>("SELECT CAST(sum(bytes) AS bigint) FROM app_log_volume", Vec::new()).await
    };
    assert_eq!(volume().await, 5);
    let most = i64::try_from(workspace::Plan::Sovereign.limits().log_bytes_per_day).unwrap();
    world.execute("UPDATE app_log_volume SET bytes = $1", vec![(most - 7).into()]).await;
    append_lines(&world, &["fits", "not any more", "no"]).await;
    append_lines(&world, &["too late"]).await;
    append_lines(&world, &["too late too"]).await;
    let found = lines(&world, ALL).await;
    let kept: Vec<_> = found.iter().rev().map(|line| line.content.message.as_str()).collect();
    assert_eq!((kept.len(), &kept[..2]), (3, &["first", "fits"][..]));
    let marker = &found[0].content;
    assert_eq!((marker.level, marker.source), (LogLevel::Warn, LogSource::Platform));
    assert!(marker.message.contains("2 lines of this answer"), "{}", marker.message);
    // Refusals are told of all the same, another app has a day of its own, and so has tomorrow.
    let refused =
        kernel::events::RefusedRequest { request_line: "GET a.example".to_owned(), code: "x".to_owned() };
    let late = vec![line(LogLevel::Info, "late")];
    world.store.append_log(world.workspace, world.app, late, vec![refused]).await.unwrap();
    assert_eq!(lines(&world, ALL).await.len(), 3);
    let other = world.id();
    world.add_app(other, Sharing::Team).await;
    let own = vec![line(LogLevel::Info, "own")];
    world.store.append_log(world.workspace, other, own, Vec::new()).await.unwrap();
    assert_eq!(world.store.log_lines(world.workspace, other, &ALL).await.unwrap().len(), 1);
    let tomorrow = NewLogLine::new(at(86_400_000), LogLevel::Info, LogSource::App, "again".to_owned());
    world.store.append_log(world.workspace, world.app, vec![tomorrow], Vec::new()).await.unwrap();
    assert_eq!(messages(&world, ALL).await[0], "again");
    world.store.delete_expired(at(3 * 86_400_000)).await.unwrap();
    assert_eq!(world.count("app_log_volume").await, 0);
}
