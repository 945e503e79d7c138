use serde_json::json;

use super::*;

/// Secrets by their letter in a placement. Assembled, so that no scanner takes the tests for a leak.
fn secret(letter: char) -> String {
    let mixed = "a1B2c3D4e5F6g7H8i9J0";
    match letter {
        'H' => "9f86d081884c7d659a2feaa0c55ad015".to_owned(),
        'L' => mixed.repeat(2),
        'P' => "hunter2-hunter2".to_owned(),
        'S' => "s3cr3tw0rd".to_owned(),
        'T' => format!("{}:{}", "1234567890", "A".repeat(20) + "b1C2d3E4f5G6h7I"),
        'W' => "correcthorse".to_owned(),
        'X' => "k3y9x8w7v6u5t4s3r2q1p0o9n8".to_owned(),
        other => panic!("{other} is no secret"),
    }
}

/// Placements, each with the letter of its secret after `§`.
fn placements() -> Vec<Value> {
    vec![
        // Members, and neighbours that name.
        json!({"password": "§P"}),
        json!({"apiToken": "§P"}),
        json!({"pwd": "§S"}),
        json!({"pass": "§W"}),
        json!({"netbox_token": "§H"}),
        json!({"clientSecret": "§S"}),
        json!({"Cookie": "§S"}),
        json!({"parameters": [{"name": "X-Token", "value": "§S"}]}),
        json!({"parameters": [{"name": "X-Auth", "value": "§X"}]}),
        json!({"parameters": [{"name": "Authorization", "value": "Bearer §L"}]}),
        json!({"parameters": [{"name": "apiKey", "value": "={{ '§H' }}"}]}),
        json!({"parameters": [{"name": "apiKey", "value": "={{ '§S' }}"}]}),
        json!({"assignments": [{"id": "1", "name": "token", "type": "string", "value": "§S"}]}),
        json!({"rules": [{"t": "set", "p": "password", "to": "§S", "tot": "str"}]}),
        json!({"conditions": [{"leftValue": "={{ $json.token }}", "rightValue": "§S"}]}),
        json!({"notes": "key: §H"}),
        json!({"notes": "the password is §S, ask Dana"}),
        json!({"name": "Send with §L"}),
        json!({"credentials": {"httpHeaderAuth": {"id": "1", "name": "Token §L"}}}),
        json!({"value": "§L"}),
        // URLs.
        json!({"url": "https://api.telegram.org/bot§T/sendMessage"}),
        json!({"url": "https://api.example.com/x?access_key=§S&page=2"}),
        json!({"url": "https://api.example.com/x?limit=2&api_token=§S"}),
        json!({"url": "https://api.example.com/x?appid=§H"}),
        json!({"url": "https://someone:§W@example.com/x"}),
        json!({"url": "https://example.com/v1/§L/send"}),
        json!({"url": "https://hooks.zapier.com/hooks/catch/§X/"}),
        json!({"url": "https://chat.example.com/hooks/§X"}),
        json!({"url": "https://acme.bitrix24.kz/rest/1/§X/crm.lead.add"}),
        json!({"url": "https://maker.ifttt.com/trigger/x/with/key/§L"}),
        json!({"url": "=https://api.telegram.org/bot§T/sendMessage?chat_id={{ $json.chat }}"}),
        json!({"url": "={{ 'https://api.example.com/x?token=§S&q=' + $json.q }}"}),
        // Bodies.
        json!({"jsonBody": r#"{"api_key":"§S","q":1}"#}),
        json!({"jsonBody": r#"={"token": "§S", "name": "{{ $json.name }}"}"#}),
        json!({"jsonBody": r#"{"auth":{"password": "§W"},"q":[1,2]}"#}),
        json!({"body": "grant_type=password&client_secret=§S&x=1"}),
        json!({"body": "<Envelope><Password>§S</Password><Name>Dana</Name></Envelope>"}),
        json!({"payload": r#"{\"secret\": \"§S\"}"#}),
        // Code.
        json!({"jsCode": "const apiKey = '§S';\nreturn items;"}),
        json!({"jsCode": "const token = '§L'; const n = 5;"}),
        json!({"jsCode": "let pass = \"§W\"\nreturn []"}),
        json!({"jsCode": "const config = { netbox_token: '§H', url: '/x' };"}),
        json!({"jsCode": "const headers = {\n  'Authorization': '§S',\n  Accept: 'application/json',\n};"}),
        json!({"jsCode": "headers['X-Token'] = `§S`;"}),
        json!({"jsCode": "headers.set('X-Api-Key', '§S');"}),
        json!({"jsCode": "const secret = process.env.SECRET || '§S';"}),
        json!({"jsCode": "const password: string = '§S';"}),
        json!({"jsCode": "const body = '{\"api_key\": \"§S\", \"q\": 1}';"}),
        json!({"jsCode": "const body = \"{\\\"api_key\\\": \\\"§S\\\"}\";"}),
        json!({"jsCode": "if ($json.token !== '§S') return [];"}),
        json!({"jsCode": "// the token: §S\nreturn items;"}),
        json!({"jsCode": "await exec('curl -u dana:§W https://example.com');"}),
        json!({"pythonCode": "api_key = \"§S\"\nreturn items"}),
        json!({"func": "msg.headers = { 'X-Auth-Token': '§S' };\nreturn msg;"}),
        // Commands, connection strings.
        json!({"command": "sshpass -p '§W' ssh root@host uptime"}),
        json!({"command": "curl -H 'X-Token: §S' https://example.com"}),
        json!({"command": "PGPASSWORD=§W psql -h db"}),
        json!({"command": "mysqldump -u root -p§W shop"}),
        json!({"command": "tool --token §S --verbose"}),
        json!({"connection": "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=§L;EndpointSuffix=core"}),
        json!({"connection": "Server=db;User Id=dana;Password=§W;"}),
        json!({"body": "-----BEGIN PRIVATE KEY-----§L-----END PRIVATE KEY-----"}),
    ]
}

/// Replaces the letters of a placement.
fn fill(placement: &Value, with: impl Fn(char) -> String) -> Value {
    let text = placement.to_string();
    let mut parts = text.split('§');
    let mut filled = parts.next().unwrap().to_owned();
    for part in parts {
        let letter = part.chars().next().unwrap();
        filled.push_str(&with(letter));
        filled.push_str(&part[letter.len_utf8()..]);
    }
    serde_json::from_str(&filled).unwrap()
}

#[test]
fn the_value_of_a_secret_is_replaced_and_nothing_else() {
    let mut failed = Vec::new();
    for placement in placements() {
        let mut value = fill(&placement, secret);
        let before = value.to_string();
        let expected = fill(&placement, |_| REMOVED.to_owned());
        let found = remove(&mut value);
        if value != expected || found.len() != 1 {
            failed.push(format!("{before}\n  became {value}\n  and not {expected}: {found:?}"));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), placements().len(), failed.join("\n"));
}

#[test]
fn known_forms_are_removed_wherever_they_stand() {
    let tail = secret('L');
    for prefix in [
        "sk-proj-",
        "ghp_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "AIza",
        "ya29.",
        "GOCSPX-",
        "qat_",
        "qk_sec_",
        "qws_",
        "hf_",
        "shpat_0123456789abcdef01234567",
        "whsec_",
        "npm_",
    ] {
        let token = format!("{prefix}{tail}");
        for mut value in [
            json!({"x": token}),
            json!({"notes": format!("use {token} here")}),
            json!({token.clone(): 1}),
            json!({"jsCode": format!("call('{token}', 1)")}),
            json!({"deep": [[{"x": format!("={{{{ '{token}' }}}}")}]]}),
        ] {
            let found = remove(&mut value);
            assert_eq!(found.len(), 1, "{value}");
            assert!(!value.to_string().contains(&tail), "{value}");
        }
    }
}

#[test]
fn what_is_no_secret_stays() {
    let uuid = "7c2f8f0e-31c0-4f0c-9f0e-7d2a51c1b001";
    let document = "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms";
    let harmless = [
        // Names that only look like those of secrets.
        json!({"tokenCount": 5, "maxTokens": 4096, "max_tokens": "4096"}),
        json!({"passengers": "Aru2 Dana2"}),
        json!({"keyword": "n8n2024", "keywords": ["a1b2c3d4"], "monkey": "m0nk3y99"}),
        json!({"secretary": "dana2024", "author": "aru2024", "bypass": "route66-a"}),
        json!({"primaryKey": "order_id_2024", "sortKey": "created_at_2"}),
        json!({"idempotencyKey": "order-2024-03-17"}),
        json!({"boardingPass": "ab1234"}),
        json!({"cookieConsent": "accepted2024", "tokenType": "bearer2"}),
        json!({"apiKeyName": "X-Api-Key-2", "tokenUrl": "https://example.com/oauth2/token"}),
        json!({"passwordPolicy": "min12chars", "passwordField": "pw2"}),
        json!({"publicKey": "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"}),
        json!({"signature": "Best regards, Dana"}),
        json!({"authentication": "genericCredentialType", "nodeCredentialType": "slackApi", "genericAuthType": "httpHeaderAuth"}),
        json!({"token": "string", "password": "your_password", "apiKey": "YOUR_API_KEY", "secret": "changeme"}),
        json!({"password": "", "token": "={{ $json.token }}", "apiKey": "{{ 3.key }}"}),
        json!({"credentials": {"slackApi": {"id": "12", "name": "Slack account"}}}),
        // Expressions and addresses.
        json!({"name": "Authorization", "value": "={{ $json.token }}"}),
        json!({"name": "Authorization", "value": "=Bearer {{ $json.access_token }}"}),
        json!({"name": "Authorization", "value": "={{ 'Bearer ' + $('Log in').item.json.token }}"}),
        json!({"name": "token", "value": "={{ $('HTTP_Request1').first().json['access_token2'] }}"}),
        json!({"url": format!("https://docs.google.com/spreadsheets/d/{document}/edit")}),
        json!({"url": "https://api.example.com/v1/items?limit=100&key=name"}),
        json!({"url": format!("https://api.example.com/v1/orders/{uuid}")}),
        json!({"url": "https://example.com/reset-password?token={{ $json.token }}"}),
        json!({"url": "https://n8n.example.com/webhook/new-orders"}),
        json!({"url": "https://example.com/assets/0a1B2c3D4e5F6g7H8i9J0k.png"}),
        json!({"url": "https://github.com/a/b/commit/0f1e2d3c4b5a69788796a5b4c3d2e1f001234567"}),
        json!({"url": "mailto:dana@example.com"}),
        // Ids and digests.
        json!({"id": uuid, "webhookId": "2f0c8a5e9b1d4c7fa3e6b8d0c1f2a3b4"}),
        json!({"documentId": {"__rl": true, "mode": "list", "value": document}}),
        json!({"etag": "33a64df551425fcc55e4d42a148795d9f25f89d4", "checksum": "0".repeat(64)}),
        json!({"folderId": document, "sheetId": "gid=1234567890"}),
        json!({"image": format!("data:image/png;base64,{}", secret('L'))}),
        json!({"integrity": "sha384-oqVuAfXRKap7fdgcCY5uykM6R9GqQ8K"}),
        json!({"phone": "+77011234567", "iban": "KZ86125KZT5004100100", "color": "#a1b2c3"}),
        json!({"cron": "0 9 * * 1-5", "at": "2026-11-30T09:00:00.000Z"}),
        // Prose.
        json!({"text": "Please reset your password with this link."}),
        json!({"text": "Your key takeaways: shipping, returns, support"}),
        json!({"text": "Token authentication-middleware explained"}),
        json!({"text": "The secret: patience"}),
        json!({"notes": "basic troubleshooting-guidelines for the team"}),
        json!({"subject": "Password: required"}),
        // Code.
        json!({"jsCode": "const token = response.data.token2;\nreturn items;"}),
        json!({"jsCode": "const apiKey = $env.API_KEY2024;"}),
        json!({"jsCode": "let token = accessToken2; let key = keys[0];"}),
        json!({"jsCode": "for (const key of Object.keys(item1)) { total += item1[key]; }"}),
        json!({"jsCode": "const fields = ['token', 'created2024', 'password', 'updated2024'];"}),
        json!({"jsCode": "switch (key) { case 'order2024': return 1; }"}),
        json!({"jsCode": "const host = cfg.host;\nlet password = cfg.password;\nreturn items;"}),
        json!({"jsCode": "const tokenCount = 'abc12345'.length;"}),
        json!({"jsCode": "return { passengers: 'aru2 dana2', token: token, password };"}),
        json!({"jsCode": "const label = { password: 'Password', token: 'Token' };"}),
        json!({"jsCode": "x&&token=abcd1234;y?key=value12345:0"}),
        json!({"jsCode": "const re = /token=([a-z0-9]+)/; const url = `/x?token=${token}`;"}),
        json!({"jsCode": "const message = 'Enter your password: ' + name2;"}),
        json!({"func": "msg.payload = { key: 'temperature_2', unit: 'C' };\nreturn msg;"}),
        json!({"pythonCode": "password = os.environ['PASSWORD2']"}),
        json!({"command": "curl -s https://example.com/items | jq '.token'"}),
        json!({"command": "docker run --user 1000:1000 image:1.2.3"}),
        json!({"query": "SELECT id, token FROM users WHERE key = $1"}),
        json!({"template": "Hello {{name}}, your token: {{token}}"}),
        json!({"items": [{"name": "color", "value": "a1b2c3d4"}, {"name": "size", "value": "xl2024ab"}]}),
        json!({"rules": [{"t": "set", "p": "payload.count", "to": "item2024", "tot": "str"}]}),
    ];
    let mut failed = Vec::new();
    for mut value in harmless.clone() {
        let before = value.clone();
        let found = remove(&mut value);
        if !found.is_empty() || value != before {
            failed.push(format!("{before}\n  became {value}"));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), harmless.len(), failed.join("\n"));
}

/// Texts that are nothing but secrets, as many as an export may have: a search whose cost grew with their square would not end.
#[test]
fn all_of_many_secrets_are_removed() {
    let texts = [
        ("token:\"abcdef12\",".repeat(25_000), 25_000),
        ("'x';'token=abcdef12' ".repeat(20_000), 20_000),
        (format!("https://example.com/{} ", secret('L')).repeat(6_000), 6_000),
        (format!("{} ", secret('L')).repeat(9_000), 9_000),
    ];
    for (text, count) in texts {
        for member in ["notes", "jsCode"] {
            let mut value = json!({member: text});
            remove(&mut value);
            let removed = value[member].as_str().unwrap().matches(REMOVED).count();
            assert_eq!(removed, count, "{member}: {}", text.chars().take(40).collect::<String>());
        }
    }
}
