// What people do with what failed, and with what waits for them.

import { failed, letters, prepare } from '../failed-runs.mjs';

/** Replaces the text of a code editor, as a paste does. */
async function write(editor, text) {
  await editor.press('ControlOrMeta+a');
  await editor.page().keyboard.insertText(text);
}

export default [
  {
    name: 'a dead letter is replayed with a mended input',
    async run({ page, api, base, world, expect }) {
      await prepare(api, base, world, [{ customer: 7 }], failed(api, world, 1));
      await page.goto(`${base}/w/${world.ws}/dead-letters`);
      await page.getByRole('link', { name: /No customer/ }).click();
      await page.getByRole('button', { name: 'Replay…' }).click();
      const panel = page.getByRole('complementary', { name: 'Replay' });
      await panel.getByLabel('Another input').check();
      const editor = panel.getByRole('textbox', { name: 'Input' });
      await write(editor, '{"customer": 7, "ok": ');
      await panel.getByText('Not valid JSON').waitFor();
      await write(editor, '{"customer": 7, "ok": true}');
      await panel.getByRole('button', { name: 'Compare' }).click();
      await panel.getByText('Original').waitFor();
      await panel.getByRole('button', { name: 'Start replay' }).click();
      await page.waitForURL('**/runs/run_*');
      await page.getByRole('heading', { level: 1, name: /Succeeded/ }).waitFor();
      const [letter] = await letters(api, world, 'replayed');
      expect(letter?.replayRunId === new URL(page.url()).pathname.split('/').at(-1), 'the dead letter does not name the run');
    },
  },
  {
    name: 'sixty dead letters are discarded in batches',
    async run({ page, api, base, world, expect }) {
      const count = 60;
      await prepare(api, base, world, Array.from({ length: count }, (_, index) => ({ index })), failed(api, world, count));
      await page.goto(`${base}/w/${world.ws}/dead-letters`);
      await page.getByText(`Dead letters: ${count}`).or(page.getByRole('button', { name: 'Load more' })).first().scrollIntoViewIfNeeded();
      await page.getByText(`Dead letters: ${count}`).waitFor();
      await page.getByLabel('Select all shown').check();
      await page.getByRole('toolbar').getByRole('button', { name: 'Discard' }).click();
      const dialog = page.getByRole('dialog', { name: `Discard ${count} dead letters?` });
      await dialog.getByRole('button', { name: 'Discard' }).click();
      await dialog.getByText(`${count} accepted, 0 refused.`).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByText('Nothing is waiting').waitFor();
      expect((await letters(api, world, 'discarded')).length === count, 'not all were discarded');
    },
  },
  {
    name: 'all dead letters of a cause are replayed by one button, round after round, and their outcomes are counted',
    async run({ page, api, base, world, expect }) {
      const count = 55;
      await prepare(api, base, world, Array.from({ length: count }, (_, index) => ({ index })), failed(api, world, count));
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/apps`);
      const app = items.find(({ name }) => name === 'Strict');
      await api('POST', `/v1/apps/${app.id}/versions`, { files: { 'main.js': 'export default { async scheduled() { return {}; } };' }, manifest: (await api('GET', `/v1/apps/${app.id}/versions/${app.currentVersionId}`)).manifest });
      await page.goto(`${base}/w/${world.ws}/dead-letters`);
      await page.getByRole('button', { name: `Replay all ${count}` }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
      await dialog.getByText(`${count} started, ${count} succeeded, 0 failed.`).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByText('Nothing is waiting').waitFor();
      expect((await letters(api, world, 'replayed')).length === count, 'Not all were replayed.');
    },
  },
  {
    name: 'one that was settled meanwhile is told apart from the others',
    async run({ page, api, base, world, expect }) {
      await prepare(api, base, world, [{ index: 1 }, { index: 2 }], failed(api, world, 2));
      await page.goto(`${base}/w/${world.ws}/dead-letters`);
      await page.getByLabel('Select all shown').check();
      await page.getByRole('toolbar').getByRole('button', { name: 'Discard' }).click();
      const [first] = await letters(api, world, 'open');
      await api('POST', `/v1/dead-letters/${first.id}/discard`, {});
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Discard' }).click();
      await dialog.getByText('1 accepted, 1 refused.').waitFor();
      expect((await dialog.getByRole('listitem').filter({ hasText: 'Refused' }).count()) === 1, 'the failure has no line of its own');
    },
  },
  {
    name: 'a question is approved on the page of the queue, on a phone',
    phone: true,
    async run({ page, api, base, world, expect }) {
      const waiting = () => api('GET', `/v1/workspaces/${world.ws}/runs?status=waiting_approval`).then(({ items }) => items);
      await prepare(api, base, world, [{ ask: true }], async () => (await waiting()).length === 1);
      const [run] = await waiting();
      await page.goto(`${base}/w/${world.ws}/queue`);
      await page.getByRole('heading', { name: 'Send the invoice?' }).waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Nothing waits for an answer').waitFor();
      const { items } = await api('GET', `/v1/runs/${run.id}/approvals`);
      expect(items[0].state === 'approved', 'the question was not approved');
    },
  },
  {
    name: 'a viewer reads dead letters and may not settle them',
    role: 'viewer',
    async run({ page, api, base, world, expect }) {
      await prepare(api, base, world, [{ index: 1 }], failed(api, world, 1));
      const [letter] = await letters(api, world, 'open');
      await page.goto(`${base}/w/${world.ws}/dead-letters/${letter.id}`);
      const replay = page.getByRole('button', { name: 'Replay…' });
      expect((await replay.getAttribute('aria-disabled')) === 'true', 'a viewer may replay');
    },
  },
  {
    name: 'the list of runs says why a run failed, with which version, and which agent asked for it',
    async run({ page, api, base, world, expect }) {
      await prepare(api, base, world, [{ customer: 7 }], failed(api, world, 1));
      // As of a run that an agent has started.
      await page.route(/\/v1\/workspaces\/[^/]+\/runs(\?|$)/, async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        body.items = body.items.map((run) => ({ ...run, askedBy: { grantId: 'grant_x', clientName: 'Night shift' } }));
        await route.fulfill({ response, json: body });
      });
      await page.goto(`${base}/w/${world.ws}/runs`);
      const row = page.getByRole('row').filter({ hasText: 'No customer' });
      await row.getByText('Agent Night shift').waitFor();
      expect(/Failed/.test(await row.textContent()), 'the reason stands beside the state');
      await page.getByRole('columnheader', { name: 'Version' }).waitFor();
    },
  },
];
