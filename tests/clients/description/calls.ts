// Ten calls with a client that openapi-typescript generates of the description. That it compiles is half of the test.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { env: Record<string, string | undefined> };

const baseUrl = process.env.QALA_URL ?? "";
const origin = { Origin: baseUrl };

function must<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.url}: ${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

const visitor = createClient<paths>({ baseUrl, headers: origin });

// 1: a session; its cookie goes with the calls that follow.
const signedIn = await visitor.POST("/v1/auth/dev-login", { body: { email: "generated@example.test" } });
must(signedIn);
const cookie = (signedIn.response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const person = createClient<paths>({ baseUrl, headers: { ...origin, Cookie: cookie } });

// 2 and 3: enumerations as they are on the wire.
const profile: components["schemas"]["Profile"] = "kz-standard";
const made = must(
  await person.POST("/v1/workspaces", {
    body: { name: "Generated", profile, teamSize: "solo", intents: ["internal_tools"], locale: "kk", timezone: "Asia/Almaty", currency: "KZT" },
  }),
);
const ws = made.workspace.id;
const listed = must(await person.GET("/v1/workspaces"));
if (!listed.items.some((item) => item.id === ws && item.profile === profile)) throw new Error("the workspace is not listed");

// 4 to 6: an app, an automation with the smallest schedule, and a run by hand.
const app = must(
  await person.POST("/v1/workspaces/{ws}/apps", {
    params: { path: { ws } },
    body: { name: "Greeter", files: { "main.js": "export default { async scheduled() {} }" } },
  }),
);
const automation = must(
  await person.POST("/v1/workspaces/{ws}/automations", {
    params: { path: { ws } },
    body: { name: "Daily", appId: app.id, trigger: { type: "schedule", cron: "0 9 * * *", timezone: "Asia/Almaty" } },
  }),
);
const started = must(
  await person.POST("/v1/automations/{id}/run", { params: { path: { id: automation.id } }, body: { input: [1, { any: null }] } }),
);
if (!started.runId.startsWith("run_")) throw new Error("no run was started");

// 7 and 8: a table and rows of it, one of them and several.
const projects = must(await person.GET("/v1/workspaces/{ws}/backend/projects", { params: { path: { ws } } }));
const projectId = projects.items[0]?.id ?? "";
must(
  await person.POST("/v1/backend/projects/{projectId}/tables", {
    params: { path: { projectId } },
    body: { name: "books", columns: [{ name: "title", type: "text", nullable: true }] },
  }),
);
const rows = must(
  await person.POST("/v1/backend/projects/{projectId}/tables/{table}/rows", {
    params: { path: { projectId, table: "books" } },
    body: [{ title: "Abai Zholy" }, { title: "Qan men ter" }],
  }),
);
if (rows.length !== 2) throw new Error("two rows were sent");

// 9: a rule as a tree, whose variants have types of their own.
const rule: components["schemas"]["Condition"] = { t: "and", of: [{ t: "all" }, { t: "null", column: "title", isNull: false }] };
void rule;
must(
  await person.PUT("/v1/backend/projects/{projectId}/tables/{table}/policy", {
    params: { path: { projectId, table: "books" } },
    body: { sentences: ["Anyone may read id, title of every row."] },
  }),
);

// 10: an error has the documented shape.
const refused = await person.GET("/v1/runs/{id}", { params: { path: { id: "run_01h455vb4pex5vsknk084sn02q" } } });
if (refused.response.status !== 404 || refused.error?.error.code !== "run_not_found") throw new Error(JSON.stringify(refused.error));

console.log("ten calls succeeded");
