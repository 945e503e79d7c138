"""The official Python client goes the whole way: 401, metadata, registration, PKCE, a tool that reads, one that writes,
refreshing, revoking. QALA_URL names the server; the argument is the client's mode, `auto` or `legacy`."""

import asyncio
import os
import re
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

BASE = os.environ["QALA_URL"]
CALLBACK = "http://127.0.0.1:33418/callback"
MODE = sys.argv[1]


def check(what, holds):
    if not holds:
        raise SystemExit(f"not so: {what}")
    print(f"ok: {what}")


class Person:
    """A person in the console: signs in, has a workspace, and lets an agent in."""

    def __init__(self, email):
        self.http = httpx2.Client(base_url=BASE, headers={"origin": BASE})
        self.post("/v1/auth/dev-login", {"email": email})
        made = self.post(
            "/v1/workspaces", {"name": "Home", "profile": "global", "teamSize": "solo", "intents": []}
        )
        self.workspace = made["workspace"]["id"]
        self.answer = None

    def post(self, path, body):
        return self.http.post(path, json=body).raise_for_status().json()

    def publish_tool(self):
        """Publishes an automation as the tool `echo`; returns a function that gives its app another permission."""
        app = self.post(f"/v1/workspaces/{self.workspace}/apps", {"name": "Echo"})["id"]

        def create_version(egress):
            manifest = {"name": "Echo", "description": "Returns what it gets.", "archetype": "workshop"}
            manifest |= {"category": "data", "permissions": {"egress": egress}}
            code = "export default { async scheduled(event) { return { got: event.data }; } };"
            self.post(f"/v1/apps/{app}/versions", {"files": {"main.js": code}, "manifest": manifest})

        create_version([])
        automation = {"name": "Echo", "appId": app, "trigger": {"type": "manual"}}
        automation = self.post(f"/v1/workspaces/{self.workspace}/automations", automation)["id"]
        path = f"/v1/automations/{automation}/agent-tool"
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        tool = {"name": "echo", "title": "Echo", "description": "Returns what it gets.", "inputSchema": schema}
        tool["reviewedHash"] = self.http.get(path).raise_for_status().json()["hash"]
        self.http.put(path, json=tool).raise_for_status()
        return lambda: create_version([{"host": "api.example.com"}])

    async def allow(self, address):
        """Opens the address the client sends its person to, and allows it."""
        asked = parse_qs(urlsplit(address).query)
        check("it asks for what the server names", asked["scope"] == ["read write"])
        check("it names the agent server", asked["resource"] == [f"{BASE}/mcp"])
        page = self.http.get(address)
        found = re.search(r"/oauth/consent/(oaz_\w+)$", page.headers.get("location", ""))
        check("the browser comes to the page of consent", page.status_code == 303 and found)
        path = f"/v1/oauth/authorizations/{found[1]}"
        wanted = self.http.get(path).raise_for_status().json()["requestedAccess"]
        check("it asks to write", wanted == "write")
        decision = {"decision": "allow", "workspaceId": self.workspace, "access": wanted}
        self.answer = self.post(f"{path}/decision", decision)["redirectTo"]

    async def answered(self):
        """What came back to the client's own address."""
        answer = {name: values[0] for name, values in parse_qs(urlsplit(self.answer).query).items()}
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


class Kept:
    """What a program keeps between two starts."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def client(person, kept):
    # A scope of its own: the server's words go before it.
    metadata = OAuthClientMetadata(client_name="Official client", redirect_uris=[CALLBACK], scope="read")
    auth = OAuthClientProvider(f"{BASE}/mcp", metadata, kept, person.allow, person.answered)
    http = httpx2.AsyncClient(auth=auth, timeout=30)
    return auth, http, Client(streamable_http_client(f"{BASE}/mcp", http_client=http), mode=MODE)


async def main():
    person, kept = Person(f"python-{MODE}@example.test"), Kept()
    auth, http, agent = client(person, kept)
    async with http, agent:
        check("it registered itself", kept.client.client_id.startswith("qac_"))
        check("it may write", kept.tokens.scope == "read write")
        tools = [tool.name for tool in (await agent.list_tools()).tools]
        check("it sees tools that read and tools that write", {"whoami", "replay_dead_letter"} <= set(tools))
        whoami = (await agent.call_tool("whoami", {})).structured_content
        check("a tool knows the person", whoami["workspace"]["id"] == person.workspace)
        letter = {"deadLetterId": "run_00000000000000000000000000"}
        replayed = await agent.call_tool("replay_dead_letter", letter)
        said = replayed.content[0].text
        check("a tool that writes is called, and finds no such letter", said.startswith("dead_letter_not_found"))

        # What its person publishes is a tool, until its permissions move.
        move_permissions = person.publish_tool()
        tools = [tool.name for tool in (await agent.list_tools(cache_mode="refresh")).tools]
        check("it sees a published tool", "run_echo" in tools)
        echoed = await agent.call_tool("run_echo", {"text": "hello"})
        check("it gets the result of its call", echoed.structured_content["result"]["got"]["text"] == "hello")
        move_permissions()
        tools = [tool.name for tool in (await agent.list_tools(cache_mode="refresh")).tools]
        check("it sees the tool no more", "run_echo" not in tools)
        gone = await agent.call_tool("run_echo", {"text": "hello"})
        check("the tool is not live", gone.is_error and gone.content[0].text.startswith("tool_not_live: "))

        # It changes an app by itself where the app gains nothing, and leaves the rest to its person.
        app = (await agent.call_tool("list_apps", {})).structured_content["items"][0]["id"]

        async def plan(instruction):
            call = await agent.call_tool("plan_change", {"appId": app, "instruction": instruction})
            return {name: call.structured_content[name] for name in ("changeId", "manifest")}

        live = await agent.call_tool("approve_change", await plan("Each run saves 5 minutes."))
        check("a change inside the safe band is live", live.structured_content["state"] == "live")
        told = await agent.call_tool("approve_change", await plan("Let the app call other.example.net."))
        said = told.content[0].text
        check("it is told to go to the console", told.is_error and said.startswith("approval_needs_console: "))

        # It believes that its access token has expired, and refreshes it without asking anybody.
        before, person.answer = kept.tokens, None
        auth.context.token_expiry_time = 1
        whoami = (await agent.call_tool("whoami", {})).structured_content
        check("it goes on", whoami["workspace"]["id"] == person.workspace)
        refreshed = kept.tokens.refresh_token != before.refresh_token and person.answer is None
        check("it refreshed, and may still write", refreshed and kept.tokens.scope == "read write")

    form = {"client_id": kept.client.client_id, "token": kept.tokens.refresh_token}
    check("it gives its refresh token back", httpx2.post(f"{BASE}/oauth/revoke", data=form).status_code == 200)
    bearer = {"authorization": f"Bearer {kept.tokens.access_token}"}
    after = httpx2.get(f"{BASE}/v1/tokens/self", headers=bearer)
    check("the access token ended with it", after.status_code == 401)


asyncio.run(main())
