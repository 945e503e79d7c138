"""Ten calls with a client that openapi-python-client generates from the description."""

import os
import sys

sys.path.insert(0, os.environ["GENERATED"])

from qala_client import AuthenticatedClient, Client  # noqa: E402
from qala_client.api.apps import list_apps, read_app  # noqa: E402
from qala_client.api.automations import create_automation, start_automation  # noqa: E402
from qala_client.api.backend_data import list_rows, read_schema  # noqa: E402
from qala_client.api.runs import list_runs, read_run  # noqa: E402
from qala_client.api.tokens import read_own_token  # noqa: E402
from qala_client.api.workspaces import list_workspaces  # noqa: E402
from qala_client.models import NewAutomation, StartAutomation  # noqa: E402

URL, WS = os.environ["QALA_URL"], os.environ["WORKSPACE"]
token = AuthenticatedClient(URL, os.environ["TOKEN"], raise_on_unexpected_status=True)
project = AuthenticatedClient(URL, os.environ["PROJECT_KEY"], raise_on_unexpected_status=True)
console = Client(URL, cookies=dict([os.environ["COOKIE"].split("=", 1)]), raise_on_unexpected_status=True)


def must(answer, kind):
    """Returns the parsed body of a successful response."""
    assert type(answer).__name__ == kind, f"{kind} was expected: {answer}"
    return answer


own = must(read_own_token.sync(client=token), "OwnToken")
assert must(list_workspaces.sync(client=console), "WorkspaceList").items[0].id == WS
app = must(list_apps.sync(WS, client=token), "AppList").items[0]
assert must(read_app.sync(app.id, client=token), "App").slug == app.slug
body = NewAutomation.from_dict({"name": "Generated", "appId": app.id, "trigger": {"type": "manual"}})
automation = must(create_automation.sync(WS, client=token, body=body), "Automation")
started = must(
    start_automation.sync(automation.id, client=token, body=StartAutomation.from_dict({"input": {"n": 1}})), "StartedRun"
)
assert must(read_run.sync(started.run_id, client=token), "Run").id == started.run_id
assert must(list_runs.sync(WS, client=token), "RunList").items
assert must(read_schema.sync(os.environ["PROJECT"], client=project), "DataSchema").tables
rows = list_rows.sync_detailed(os.environ["PROJECT"], "notes", client=project)
assert rows.status_code == 200, rows
print("ten calls succeeded")
