//! The tables as sea-orm sees them; private to this crate. Their meaning stands beside the schema, in
//! `migrations`.

macro_rules! tables {
    ($($module:ident = $table:literal { $($(#[$attribute:meta])* $column:ident: $type:ty,)* })*) => {
        $(
            #[expect(unreachable_pub, reason = "sea-orm's derives name what they make `pub`")]
            pub(crate) mod $module {
                use sea_orm::entity::prelude::*;

                #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
                #[sea_orm(table_name = $table)]
                pub struct Model {
                    $($(#[$attribute])* pub $column: $type,)*
                }

                #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
                pub enum Relation {}

                impl ActiveModelBehavior for ActiveModel {}
            }
        )*
    };
}

tables! {
    users = "users" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        email: String,
        name: String,
        created_at: i64,
    }
    sign_ins = "sign_ins" {
        #[sea_orm(primary_key, auto_increment = false)]
        email: String,
        code_digest: Vec<u8>,
        link_digest: Option<Vec<u8>>,
        tries_left: i16,
        expires_at: i64,
    }
    sessions = "sessions" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        digest: Vec<u8>,
        user_id: Uuid,
        workspace_id: Option<Uuid>,
        dev_login: bool,
        created_at: i64,
        expires_at: i64,
        last_seen_at: Option<i64>,
        address: Option<String>,
        device: Option<String>,
        method: Option<String>,
        auth_at: Option<i64>,
        stepped_up_at: Option<i64>,
    }
    device_logins = "device_logins" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        device_digest: Vec<u8>,
        user_digest: Vec<u8>,
        client: String,
        purpose: String,
        name: String,
        scopes: String,
        expires_in_days: i64,
        host: Option<String>,
        address: Option<String>,
        network: Option<String>,
        created_at: i64,
        expires_at: i64,
        state: String,
        approved_by: Option<Uuid>,
        approved_workspace_id: Option<Uuid>,
        approved_scopes: Option<String>,
        approved_days: Option<i64>,
        interval_seconds: i64,
        last_poll_at: Option<i64>,
    }
    passkeys = "passkeys" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        user_id: Uuid,
        credential_id: Vec<u8>,
        name: String,
        credential: String,
        created_at: i64,
        last_used_at: Option<i64>,
    }
    passkey_ceremonies = "passkey_ceremonies" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        kind: String,
        session_id: Option<Uuid>,
        state: String,
        expires_at: i64,
    }
    identities = "identities" {
        #[sea_orm(primary_key, auto_increment = false)]
        issuer: String,
        #[sea_orm(primary_key, auto_increment = false)]
        subject: String,
        user_id: Uuid,
        created_at: i64,
    }
    workspaces = "workspaces" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        slug: String,
        name: String,
        profile: String,
        team_size: String,
        intents: String,
        locale: String,
        timezone: String,
        currency: String,
        hourly_cost_minor: i64,
        plan: String,
        revision: i64,
        created_at: i64,
    }
    members = "members" {
        #[sea_orm(primary_key, auto_increment = false)]
        workspace_id: Uuid,
        #[sea_orm(primary_key, auto_increment = false)]
        user_id: Uuid,
        role: String,
        joined_at: i64,
        access_ends_at: Option<i64>,
    }
    tokens = "tokens" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        digest: Vec<u8>,
        workspace_id: Uuid,
        user_id: Uuid,
        name: String,
        scopes: String,
        prefix: String,
        last4: String,
        created_at: i64,
        last_used_at: Option<i64>,
        expires_at: Option<i64>,
        revoked_at: Option<i64>,
    }
    audit_log = "audit_log" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        at: i64,
        workspace_id: Option<Uuid>,
        actor: String,
        action: String,
        target: Option<String>,
        request_id: Uuid,
        address: Option<String>,
        detail: Option<String>,
    }
    apps = "apps" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        workspace_id: Uuid,
        slug: String,
        name: String,
        description: String,
        archetype: String,
        category: String,
        sharing: String,
        paused: bool,
        current_version_id: Option<Uuid>,
        declares_webhook: bool,
        declares_form: bool,
        created_by: Uuid,
        created_at: i64,
        deleted_at: Option<i64>,
        revision: i64,
    }
    app_versions = "app_versions" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        app_id: Uuid,
        workspace_id: Uuid,
        number: i64,
        created_at: i64,
        created_by: Uuid,
        bundle_hash: String,
        trust_score: i16,
        kind: String,
        summary: String,
        base_version_id: Option<Uuid>,
        manifest: String,
        files: String,
    }
    app_grants = "app_grants" {
        #[sea_orm(primary_key, auto_increment = false)]
        app_id: Uuid,
        #[sea_orm(primary_key, auto_increment = false)]
        user_id: Uuid,
        rights: i16,
    }
    gates = "gates" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        workspace_id: Uuid,
        name: String,
        host: String,
        methods: String,
        connection_id: Option<Uuid>,
        status: String,
        created_at: i64,
    }
    automations = "automations" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        workspace_id: Uuid,
        app_id: Uuid,
        name: String,
        trigger_kind: String,
        cron: Option<String>,
        timezone: Option<String>,
        event: Option<String>,
        status: String,
        max_concurrency: Option<i64>,
        retries: i16,
        next_run_at: Option<i64>,
        created_by: Uuid,
        created_at: i64,
        revision: i64,
        catch_up: Option<String>,
        catch_up_minutes: Option<i64>,
        overlap: Option<String>,
    }
    webhooks = "webhooks" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        automation_id: Uuid,
        workspace_id: Uuid,
        mode: String,
        secret_sealed: Option<String>,
        token_digest: Option<Vec<u8>>,
        hint: Option<String>,
        enabled: bool,
        per_minute: i64,
        created_at: i64,
        updated_at: i64,
        revision: i64,
        form: Option<String>,
    }
    deliveries = "deliveries" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        webhook_id: Uuid,
        workspace_id: Uuid,
        run_id: Option<Uuid>,
        refusal: Option<String>,
        received_at: i64,
        bytes: i64,
        sample: bool,
    }
    runs = "runs" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        workspace_id: Uuid,
        app_id: Uuid,
        automation_id: Option<Uuid>,
        version_id: Option<Uuid>,
        trigger_kind: String,
        status: String,
        accepted_at: i64,
        started_at: Option<i64>,
        finished_at: Option<i64>,
        attempt: i64,
        minutes_saved: f64,
        error_code: Option<String>,
        error_message: Option<String>,
        replay_of: Option<Uuid>,
        steps: Option<String>,
        scheduled_for: Option<i64>,
        asked_by_agent: Option<bool>,
        answers: Option<String>,
    }
    run_inputs = "run_inputs" {
        #[sea_orm(primary_key, auto_increment = false)]
        run_id: Uuid,
        input: String,
    }
    run_queue = "run_queue" {
        #[sea_orm(primary_key, auto_increment = false)]
        run_id: Uuid,
        workspace_id: Uuid,
        automation_id: Option<Uuid>,
        state: i16,
        available_at: i64,
        attempt: i64,
        leased_by: Option<Uuid>,
        leased_until: Option<i64>,
    }
    occurrences = "occurrences" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        automation_id: Uuid,
        workspace_id: Uuid,
        due_at: i64,
        outcome: String,
        reason: Option<String>,
        run_id: Option<Uuid>,
        recorded_at: i64,
    }
    dead_letters = "dead_letters" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        workspace_id: Uuid,
        app_id: Uuid,
        automation_id: Option<Uuid>,
        kind: String,
        state: String,
        trigger_kind: String,
    }
    log_lines = "log_lines" {
        #[sea_orm(primary_key)]
        id: i64,
        workspace_id: Uuid,
        app_id: Uuid,
        run_id: Option<Uuid>,
        at: i64,
        level: i16,
        source: i16,
        message: String,
        event_seq: Option<i64>,
    }
    backend_projects = "backend_projects" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        workspace_id: Uuid,
        name: String,
        slug: String,
        description: String,
        shard: i64,
        settings: String,
        created_by: Uuid,
        created_at: i64,
    }
    project_keys = "project_keys" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        digest: Vec<u8>,
        project_id: Uuid,
        name: String,
        kind: String,
        scopes: String,
        tables: Option<String>,
        prefix: String,
        last4: String,
        created_by: Uuid,
        created_at: i64,
        last_used_at: Option<i64>,
        revoked_at: Option<i64>,
    }
    oauth_clients = "oauth_clients" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        client_id: String,
        name: String,
        redirects: String,
        homepage_host: Option<String>,
        created_at: i64,
    }
    oauth_authorizations = "oauth_authorizations" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        client_id: String,
        client_kind: String,
        client_name: String,
        client_host: Option<String>,
        homepage_host: Option<String>,
        redirect: String,
        state: Option<String>,
        challenge: Vec<u8>,
        audience: String,
        requested: String,
        created_at: i64,
        expires_at: i64,
        stage: String,
        user_id: Option<Uuid>,
        workspace_id: Option<Uuid>,
        access: Option<String>,
        code_until: Option<i64>,
        code_digest: Option<Vec<u8>>,
        grant_id: Option<Uuid>,
    }
    oauth_grants = "oauth_grants" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        workspace_id: Uuid,
        user_id: Uuid,
        client_id: String,
        client_kind: String,
        client_name: String,
        client_host: Option<String>,
        access: String,
        audience: String,
        created_at: i64,
        last_used_at: Option<i64>,
        expires_at: i64,
        revoked_at: Option<i64>,
    }
    oauth_access_tokens = "oauth_access_tokens" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        digest: Vec<u8>,
        grant_id: Uuid,
        workspace_id: Uuid,
        access: String,
        prefix: String,
        last4: String,
        created_at: i64,
        expires_at: i64,
    }
    oauth_refresh_tokens = "oauth_refresh_tokens" {
        #[sea_orm(primary_key, auto_increment = false)]
        id: Uuid,
        digest: Vec<u8>,
        grant_id: Uuid,
        workspace_id: Uuid,
        generation: i64,
        created_at: i64,
        spent_at: Option<i64>,
    }
}
