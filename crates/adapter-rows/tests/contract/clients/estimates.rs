//! Planned and estimated counts.

use super::*;
use crate::contract;

contract!(few_rows_are_counted_and_many_are_estimated, an_estimate_reveals_no_hidden_rows,);

async fn total(world: &World, access: &Access, query: &str, counted: Count) -> Option<u64> {
    let options = ReadOptions { include_count: true, count_kind: Some(counted), ..ReadOptions::default() };
    let page = world.engine.list(&world.project, access, "notes", query, &options).await.unwrap();
    assert!(page.total.unwrap() >= page.offset + page.rows || page.rows == 0, "{query} {counted:?}");
    page.total
}

async fn many(world: &World) {
    notes(world).await;
    let mut file = "id,owner,qty\n".to_owned();
    (0..30_000).for_each(|n| file.push_str(&format!("{n:06},{},{n}\n", ["mia", "tom"][n % 2])));
    let file = std::sync::Arc::new(bytes::Bytes::from(file));
    world.engine.import(&world.project, &Access::Owner, "notes", file, &Default::default()).await.unwrap();
}

async fn few_rows_are_counted_and_many_are_estimated(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    for counted in [Count::Exact, Count::Estimated] {
        assert_eq!(total(&world, &owner, "limit=1", counted).await, Some(5), "{counted:?}");
        assert_eq!(total(&world, &owner, "owner=eq.mia&limit=0", counted).await, Some(3), "{counted:?}");
    }
    // Plans need statistics, which may not exist yet.
    assert!(total(&world, &owner, "limit=2", Count::Planned).await >= Some(2));
    let options =
        ReadOptions { include_count: true, count_kind: Some(Count::Planned), ..ReadOptions::default() };
    let beyond = world.engine.list(&world.project, &owner, "notes", "offset=1000000", &options).await;
    assert_eq!(beyond.unwrap().rows, 0, "an estimate refuses no page");
    world.engine.drop_table(&world.project, &owner, "notes").await.unwrap();

    many(&world).await;
    assert_eq!(total(&world, &owner, "limit=1", Count::Exact).await, Some(30_000));
    let about = total(&world, &owner, "limit=1", Count::Estimated).await.unwrap();
    assert!((10_000..100_000).contains(&about), "{about} of 30,000");
    let few = total(&world, &owner, "id=in.(000001,000002)&limit=1", Count::Estimated).await;
    assert_eq!(few, Some(2));
    let groups = total(&world, &owner, "select=owner,count()", Count::Estimated).await;
    assert_eq!(groups, Some(2), "groups are counted");
}

async fn an_estimate_reveals_no_hidden_rows(world: World) {
    many(&world).await;
    set_rules(&world, json!([rule("own", &["read"], &own())])).await;
    for counted in [Count::Exact, Count::Planned, Count::Estimated] {
        assert_eq!(total(&world, &mia(), "limit=1", counted).await, Some(15_000), "{counted:?}");
        assert_eq!(total(&world, &mia(), "qty=gte.29990&limit=1", counted).await, Some(5), "{counted:?}");
        let tom = total(&world, &mia(), "owner=eq.tom&limit=1", counted).await;
        assert_eq!(tom, Some(0), "{counted:?}");
    }
}
