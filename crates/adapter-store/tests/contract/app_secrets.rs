//! Secrets of apps.

use ::connections::app_secrets::{AppSecret, AppSecretReader as _, AppSecretTx as _, SealedAppSecret};
use kernel::{
    SeededRandomness,
    authority::Sharing,
    id::AppId,
    vault::{MasterKeys, Vault},
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    a_secret_is_read_as_it_was_written,
    a_deleted_app_has_no_secret,
    secrets_are_sealed_anew_under_the_newest_key,
);

fn secret(world: &World, app: AppId, name: &str) -> AppSecret {
    AppSecret {
        workspace: world.workspace,
        app,
        name: name.parse().unwrap(),
        hosts: vec!["a.example.com".parse().unwrap(), "b.example.com".parse().unwrap()],
        clear: true,
        version: 3,
        set_at: at(5),
        set_by: world.user,
    }
}

async fn put(world: &World, secret: &AppSecret, sealed: &str) {
    let stored = SealedAppSecret { secret: secret.clone(), sealed: sealed.to_owned() };
    world.write(async |tx| tx.put_app_secret(&stored).await).await;
}

async fn names(world: &World, app: AppId) -> Vec<String> {
    let listed = world.store.list_app_secrets(world.workspace, app).await.unwrap();
    listed.into_iter().map(|view| view.secret.name.to_string()).collect()
}

async fn a_secret_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let other: AppId = world.id();
    world.add_app(other, Sharing::Team).await;
    let (workspace, app) = (world.workspace, world.app);
    let mut key = secret(&world, app, "KEY");
    put(&world, &key, "qs1.a").await;
    put(&world, &AppSecret { hosts: Vec::new(), ..secret(&world, app, "ALSO") }, "qs1.b").await;
    put(&world, &secret(&world, other, "KEY"), "qs1.c").await;
    assert_eq!(names(&world, app).await, ["ALSO", "KEY"]);
    let listed = world.store.list_app_secrets(workspace, app).await.unwrap();
    assert_eq!(listed[1].secret, key);
    assert!(listed[1].set_by_name.is_some());
    let find = async |app, name: &str| {
        let found = world.store.find_app_secret(workspace, app, &name.parse().unwrap()).await.unwrap();
        found.map(|stored| (stored.secret, stored.sealed))
    };
    assert_eq!(find(app, "KEY").await, Some((key.clone(), "qs1.a".to_owned())));
    assert_eq!(find(app, "key").await, None);
    assert_eq!(find(other, "ALSO").await, None);
    let clear = world.store.clear_app_secrets(workspace, app).await.unwrap();
    assert_eq!(clear.iter().map(|stored| stored.sealed.as_str()).collect::<Vec<_>>(), ["qs1.b", "qs1.a"]);
    assert_eq!(world.store.clear_app_secrets(world.id(), app).await.unwrap(), []);
    let elsewhere = world.store.find_app_secret(world.id(), app, &key.name).await.unwrap();
    assert_eq!(elsewhere, None);

    (key.hosts, key.clear, key.version, key.set_at) = (Vec::new(), false, 4, at(6));
    put(&world, &key, "qs1.d").await;
    assert_eq!(world.store.clear_app_secrets(workspace, app).await.unwrap().len(), 1);
    assert_eq!(find(app, "KEY").await, Some((key.clone(), "qs1.d".to_owned())));
    let locked = world.write(async |tx| tx.app_secrets_for_update(workspace, app).await).await.unwrap();
    assert_eq!(locked.len(), 2);
    world.write(async |tx| tx.delete_app_secret(workspace, app, &key.name).await).await;
    assert_eq!(
        (names(&world, app).await, names(&world, other).await),
        (vec!["ALSO".to_owned()], vec!["KEY".to_owned()])
    );
}

async fn a_deleted_app_has_no_secret(database: Database) {
    use ::apps::AppsTx as _;
    let world = World::new(database).await;
    let (workspace, app) = (world.workspace, world.app);
    put(&world, &secret(&world, app, "KEY"), "qs1.a").await;
    let elsewhere = world.id();
    assert_eq!(world.write(async |tx| tx.app_secrets_for_update(elsewhere, app).await).await, None);
    world.write(async |tx| tx.delete_app(workspace, app, at(9)).await).await;
    assert_eq!(names(&world, app).await, Vec::<String>::new());
    assert_eq!(world.write(async |tx| tx.app_secrets_for_update(workspace, app).await).await, None);
}

async fn secrets_are_sealed_anew_under_the_newest_key(database: Database) {
    let world = World::new(database).await;
    let random = SeededRandomness::new(7);
    let old = Vault::new(&MasterKeys::new(vec![[1; 32]]).unwrap());
    let new = Vault::new(&MasterKeys::new(vec![[2; 32], [1; 32]]).unwrap());
    // More than are read at once, so that an app's secrets lie in two chunks.
    let apps: Vec<AppId> = (0..5).map(|_| world.id()).collect();
    for app in &apps {
        world.add_app(*app, Sharing::Team).await;
        for number in 0..45 {
            let secret = secret(&world, *app, &format!("K{number}"));
            let context = secret.sealing_context();
            let sealed =
                old.seal(&random, &context.each_ref().map(String::as_str), &"s3cret".to_owned().into());
            put(&world, &secret, &sealed).await;
        }
    }
    for count in [225, 0] {
        let report = world.store.rekey(&new, &random, &[]).await.unwrap();
        assert_eq!((report.sealed, report.unreadable), (count, 0));
    }
    for app in apps {
        let name = "K44".parse().unwrap();
        let stored = world.store.find_app_secret(world.workspace, app, &name).await.unwrap().unwrap();
        let context = stored.secret.sealing_context();
        assert!(new.uses_newest_key(&stored.sealed));
        assert!(new.open(&context.each_ref().map(String::as_str), &stored.sealed).is_ok());
    }
    assert_eq!(world.store.master_key_usage().await.unwrap().len(), 1);
}
