// What a person does with data projects: creates them, edits rows in the grid, imports, sets rules, makes keys, deletes.

/** Creates a table with some rows in the starter project. */
async function shop(api, world, rows = []) {
  const base = `/v1/backend/projects/${world.project}/tables`;
  await api('POST', base, {
    name: 'products',
    columns: [{ name: 'name', type: 'text', nullable: false }, { name: 'stock', type: 'integer' }, { name: 'sold', type: 'boolean' }, { name: 'meta', type: 'json' }],
  });
  if (rows.length > 0) await api('POST', `${base}/products/rows`, rows);
  return `${base}/products`;
}

const THREE = [
  { id: 'jam', name: 'Jam', stock: 0, sold: false, meta: null }, { id: 'rye', name: 'Rye', stock: null, sold: null, meta: { size: 1 } }, { id: 'tea', name: 'Tea', stock: 12, sold: true, meta: null },
];
const path = (world, rest = '') => `/w/${world.ws}/data/${world.project}${rest}`;
const row = async (api, table, id) => (await api('GET', `${table}/rows?id=eq.${id}`))[0];

/** Runs `act`, and waits until the server has answered what it sends. */
async function answered(page, method, part, act) {
  const response = page.waitForResponse((one) => one.request().method() === method && one.url().includes(part));
  await act();
  return response;
}

async function openGrid(page, world, rest = '/products') {
  await page.goto(path(world, rest));
  await page.getByRole('grid').waitFor();
  await page.getByRole('gridcell', { name: 'Jam', exact: true }).waitFor();
}

export default [
  {
    name: 'a builder creates a project, a table with columns, and the first row',
    role: 'builder',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/data`);
      await page.getByRole('link', { name: 'New project' }).first().click();
      await page.getByLabel('Name', { exact: true }).fill('Bookshop');
      await page.getByRole('button', { name: 'Create project' }).click();
      await page.getByRole('heading', { name: 'Bookshop', level: 1 }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'New table' }).last().click();
      const panel = page.getByRole('complementary');
      await panel.getByLabel('Name', { exact: true }).first().fill('Order');
      await panel.getByText('A lowercase letter').last().waitFor();
      await panel.getByLabel('Name', { exact: true }).first().fill('books');
      const column = panel.getByRole('group', { name: 'Column', exact: true });
      await column.getByLabel('Name').fill('order');
      await panel.getByText('This name is reserved.').waitFor();
      expect((await panel.getByRole('button', { name: 'Create table' }).getAttribute('aria-disabled')) === 'true', 'A table with a reserved column can be created.');
      const first = panel.getByRole('group', { name: 'order', exact: true });
      await first.getByLabel('Name').fill('title');
      await panel.getByRole('button', { name: 'Create table' }).click();
      await page.getByRole('heading', { name: 'books', level: 1 }).waitFor();
      await page.getByText('This table has no rows yet').waitFor();
      await page.getByRole('link', { name: 'Insert row' }).first().click();
      await page.getByRole('complementary').getByLabel('title', { exact: true }).fill('Abai zholy');
      await page.getByRole('complementary').getByRole('button', { name: 'Insert row' }).click();
      await page.getByRole('gridcell', { name: 'Abai zholy' }).waitFor();
    },
  },
  {
    name: 'cells are edited by keyboard, a wrong value stays in its cell, and undo takes the last write back',
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      await openGrid(page, world);
      await page.getByRole('gridcell', { name: 'Jam', exact: true }).click();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.type('many');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'A whole number' }).waitFor();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('7');
      await answered(page, 'PATCH', '/rows/jam', () => page.keyboard.press('Enter'));
      expect((await row(api, table, 'jam')).stock === 7, 'The number was not written.');
      await page.getByRole('gridcell', { name: '7', exact: true }).waitFor();
      await answered(page, 'PATCH', '/rows/jam', () => page.keyboard.press('ControlOrMeta+z'));
      await page.getByText('The change was undone.').waitFor();
      expect((await row(api, table, 'jam')).stock === 0, 'Undo did not bring the old number back.');
      // Modified keys do not edit; Delete sets to null.
      await page.keyboard.press('Alt+x');
      expect((await page.getByRole('grid').locator('textarea').count()) === 0, 'A modified key began to edit.');
      await page.keyboard.press('ControlOrMeta+Home');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await answered(page, 'PATCH', '/rows/jam', () => page.keyboard.press('Delete'));
      expect((await row(api, table, 'jam')).stock === null, 'Delete did not set the cell to null.');
    },
  },
  {
    name: 'a cell that somebody else has changed is not overwritten until one chooses',
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      // Without events, the page learns of the other change only when it saves.
      await page.route('**/events*', (route) => route.abort());
      await openGrid(page, world);
      await page.getByRole('gridcell', { name: 'Tea', exact: true }).dblclick();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('Green tea');
      await api('PATCH', `${table}/rows/tea`, { name: 'Black tea' });
      await page.keyboard.press('Tab');
      await page.getByText('1 cell not saved').waitFor();
      await page.keyboard.press('Shift+Tab');
      await page.getByRole('alert').getByText('Black tea').waitFor();
      expect((await row(api, table, 'tea')).name === 'Black tea', 'The other value was overwritten.');
      await answered(page, 'PATCH', '/rows/tea', () => page.getByRole('button', { name: 'Save mine' }).click());
      await page.getByRole('gridcell', { name: 'Green tea' }).waitFor();
      expect((await row(api, table, 'tea')).name === 'Green tea', 'The chosen value was not written.');
      // Another column of the same row is no conflict.
      await page.getByRole('gridcell', { name: 'Green tea' }).dblclick();
      await page.keyboard.type('!');
      await api('PATCH', `${table}/rows/tea`, { stock: 99 });
      await answered(page, 'PATCH', '/rows/tea', () => page.keyboard.press('Enter'));
      const { name, stock } = await row(api, table, 'tea');
      expect(name === 'Green tea!' && stock === 99, `The row is ${name} ${stock}.`);
    },
  },
  {
    name: 'rows that others write appear without moving the cell that is edited',
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      await openGrid(page, world);
      await page.getByRole('gridcell', { name: 'Tea', exact: true }).dblclick();
      const editor = page.getByRole('grid').getByRole('textbox', { name: 'name' });
      const before = await editor.boundingBox();
      await api('POST', `${table}/rows`, { id: 'ale', name: 'Ale', stock: 1, sold: null, meta: null });
      await api('PATCH', `${table}/rows/rye`, { name: 'Rye bread' });
      await page.getByRole('gridcell', { name: 'Rye bread' }).waitFor();
      const after = await editor.boundingBox();
      expect(after?.y === before?.y, 'The edited cell has moved.');
      await api('PATCH', `${table}/rows/tea`, { name: 'Black tea' });
      await page.getByText('Somebody else changed this cell while you were editing it.').waitFor();
      await page.getByRole('button', { name: 'Keep theirs' }).click();
      await page.getByRole('gridcell', { name: 'Black tea' }).waitFor();
      await page.getByRole('gridcell', { name: 'Ale', exact: true }).waitFor();
      expect((await row(api, table, 'tea')).name === 'Black tea', 'The other value was overwritten.');
    },
  },
  {
    name: 'a block of a spreadsheet is pasted, what does not fit is said, and a block is copied',
    options: { permissions: ['clipboard-read', 'clipboard-write'] },
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      await openGrid(page, world);
      const paste = async (text) => {
        await page.evaluate((value) => navigator.clipboard.writeText(value), text);
        await page.keyboard.press('ControlOrMeta+v');
      };
      await page.getByRole('gridcell', { name: 'Jam', exact: true }).click();
      await paste('Plum jam\t3\nRye bread\tsome');
      await page.getByText('1 pasted value does not fit. Nothing was written.').waitFor();
      expect((await row(api, table, 'jam')).name === 'Jam', 'A part of a refused block was written.');
      await page.getByRole('gridcell', { name: 'Jam', exact: true }).click();
      // The cells of rows that exist are shown before they are written.
      const written = new Promise((resolve) => {
        let left = THREE.length;
        page.on('response', (response) => {
          if (response.request().method() === 'PATCH' && response.ok()) left -= 1;
          if (left === 0) resolve();
        });
      });
      await paste('Plum jam\t3\nRye bread\t4\nTea\t5\nOats\t6');
      await written;
      await page.getByText('4 rows', { exact: true }).waitFor();
      await page.getByRole('gridcell', { name: 'Rye bread', exact: true }).waitFor();
      const rows = await api('GET', `${table}/rows?order=stock`);
      expect(rows.map(({ name, stock }) => `${name} ${stock}`).join() === 'Plum jam 3,Rye bread 4,Tea 5,Oats 6', `The block was pasted as ${JSON.stringify(rows)}.`);
      await page.getByRole('gridcell', { name: 'Plum jam', exact: true }).click();
      await page.keyboard.press('Shift+ArrowDown');
      await page.keyboard.press('ControlOrMeta+c');
      expect((await page.evaluate(() => navigator.clipboard.readText())) === 'Plum jam\nRye bread', 'The block was not copied.');
    },
  },
  {
    name: 'filters and the order are the address, and rows are deleted after a question and come back',
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      await openGrid(page, world);
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Column').selectOption('stock');
      await dialog.getByLabel('Condition').selectOption('is not null');
      await dialog.getByRole('button', { name: 'Apply filter' }).click();
      await page.getByText('2 rows', { exact: true }).waitFor();
      expect(page.url().endsWith('?stock=not.is.null'), `The filter is not in the address: ${page.url()}`);
      await page.getByRole('columnheader', { name: 'name' }).getByRole('button').click();
      await page.getByRole('menuitemradio', { name: 'Sort descending' }).click();
      await page.waitForURL((url) => url.searchParams.get('order') === 'name.desc');
      // The same by the keyboard alone.
      await page.getByRole('gridcell', { name: 'Tea', exact: true }).click();
      await page.keyboard.press('ControlOrMeta+Home');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await page.getByRole('menuitemradio', { name: 'Sort ascending' }).waitFor();
      await page.keyboard.press('Home');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.searchParams.get('order') === 'name');
      await page.goto(path(world, '/products?or=(stock.eq.12,name.like.R*)'));
      await page.getByText('2 rows', { exact: true }).waitFor();
      await page.goto(path(world, '/products?nope=eq.1'));
      await page.getByRole('alert').filter({ hasText: 'nope' }).waitFor();
      await openGrid(page, world);
      await page.getByRole('checkbox', { name: 'Select row jam' }).check();
      await page.getByRole('checkbox', { name: 'Select row tea' }).check();
      await page.getByRole('button', { name: 'Delete rows' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete rows' }).click();
      await page.getByText('1 row', { exact: true }).waitFor();
      expect((await api('GET', `${table}/rows`)).length === 1, 'The rows are still there.');
      await page.getByText('2 rows deleted').waitFor();
      await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
      await page.getByText('3 rows', { exact: true }).waitFor();
      expect((await row(api, table, 'tea')).stock === 12, 'The row did not come back as it was.');
    },
  },
  {
    name: 'a file in windows-1251 is shown as it reads, and sent once its encoding is chosen; empty lines and columns are left out',
    async run({ page, api, world, expect }) {
      await api('POST', `/v1/backend/projects/${world.project}/tables`, { name: 'clients', columns: [{ name: 'name', type: 'text' }, { name: 'city', type: 'text' }, { name: 'n', type: 'integer' }] });
      await page.goto(path(world, '/clients/import'));
      const panel = page.getByRole('complementary');
      const text = 'name;city;n;\nАйгерим;Алматы;1;\n;;;\nТимур;Астана;2;\n\n';
      const buffer = Buffer.from([...text].map((letter) => (letter.codePointAt(0) < 128 ? letter.codePointAt(0) : letter.codePointAt(0) - 0x410 + 0xc0)));
      await panel.locator('input[type=file]').setInputFiles({ name: 'clients.csv', mimeType: 'text/csv', buffer });
      await panel.getByText('Айгерим', { exact: false }).first().waitFor();
      await panel.getByText('2 empty lines are left out.', { exact: false }).waitFor();
      await panel.getByText('1 column without a name and a value is left out.', { exact: false }).waitFor();
      const send = panel.getByRole('button', { name: /^Import/ });
      expect((await send.getAttribute('aria-disabled')) === 'true', 'The file can be sent before its encoding is chosen.');
      await panel.getByLabel('Encoding').selectOption('koi8-r');
      await panel.getByText('Айгерим', { exact: false }).first().waitFor({ state: 'detached' });
      await panel.getByLabel('Encoding').selectOption('windows-1251');
      await panel.getByText('Айгерим', { exact: false }).first().waitFor();
      await send.click();
      await page.getByText('2 rows imported').waitFor();
      await page.getByText('Тимур').first().waitFor();
    },
  },
  {
    name: 'a file is mapped to columns, its bad rows are named and left out, and the rest is imported',
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      await page.goto(path(world, '/products/import'));
      const panel = page.getByRole('complementary');
      const file = (text) => ({ name: 'stock.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
      await panel.locator('input[type=file]').setInputFiles(file('Product,Stock\n"open'));
      await panel.getByText('The quotes opened in line 2 are not closed.').waitFor();
      await panel.locator('input[type=file]').setInputFiles(file('Product;Stock\nOats;4\nMilk;many\n"";5\n'));
      await panel.getByText('3 rows. Which column goes where?').waitFor();
      expect((await panel.getByLabel('Column of the table for Stock').inputValue()) === 'stock', 'The column of the same name was not found.');
      expect((await panel.getByRole('button', { name: /^Import/ }).getAttribute('aria-disabled')) === 'true', 'A file without the required column can be imported.');
      await panel.getByLabel('Column of the table for Product').selectOption('name');
      await panel.getByText('1 row does not fit').first().waitFor();
      await panel.getByLabel('Leave these rows out').check();
      await panel.getByRole('button', { name: 'Import 2 rows' }).click();
      await page.getByText('2 rows imported').waitFor();
      const rows = await api('GET', `${table}/rows?stock=in.(4,5)&order=stock&select=name,stock`);
      expect(JSON.stringify(rows) === '[{"name":"Oats","stock":4},{"name":"","stock":5}]', `Imported ${JSON.stringify(rows)}.`);
      await page.getByText('5 rows', { exact: true }).waitFor();
    },
  },
  {
    name: 'a rule is made by menus, saved, tried, and refused as a sentence that is none',
    async run({ page, api, world, expect }) {
      await shop(api, world, THREE);
      await page.goto(path(world, '/products/rules'));
      await page.getByRole('button', { name: 'Add rule' }).last().click();
      const rule = page.getByRole('list').getByRole('listitem').filter({ hasText: 'may' }).first();
      await rule.getByRole('button', { name: 'Signed-in people' }).click();
      await page.getByRole('menuitemradio', { name: 'Anyone' }).click();
      await rule.getByRole('button', { name: 'Add a condition' }).click();
      await page.getByRole('menuitem', { name: 'Add a condition' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Column').selectOption('stock');
      await dialog.getByLabel('Relation').selectOption('is more than');
      await dialog.getByLabel('Value', { exact: true }).fill('ten');
      expect((await dialog.getByRole('button', { name: 'Use condition' }).getAttribute('aria-disabled')) === 'true', 'A text compares to a number.');
      await dialog.getByLabel('Value', { exact: true }).fill('10');
      await dialog.getByRole('button', { name: 'Use condition' }).click();
      await answered(page, 'PUT', '/policy', () => page.getByRole('button', { name: 'Save rules' }).click());
      await page.getByText('Anyone may read rows where stock is greater than 10.').first().waitFor();
      await page.getByRole('button', { name: 'Try', exact: true }).click();
      await page.getByText('Allowed', { exact: true }).first().waitFor();
      await page.getByText('Decides').first().waitFor();
      await page.getByLabel('Does what').selectOption('delete');
      await page.getByRole('button', { name: 'Try', exact: true }).click();
      await page.getByText('Denied', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: 'Sentences' }).click();
      await page.getByLabel('One rule on each line').fill('Everybody may do anything.');
      await page.getByRole('button', { name: 'Save rules' }).click();
      await page.getByRole('alert').filter({ hasText: 'is not a rule' }).waitFor();
      const { tables } = await api('GET', `/v1/backend/projects/${world.project}`);
      expect(tables.find(({ name }) => name === 'products').rules.length === 1, 'The rules were changed by a sentence that is none.');
    },
  },
  {
    name: 'a key is shown once, used, seen in the requests, and revoked by its name',
    async run({ page, world, base, expect }) {
      await page.goto(path(world, '/-/keys'));
      await page.getByRole('link', { name: 'New key' }).first().click();
      const panel = page.getByRole('complementary');
      await panel.getByLabel('Name', { exact: true }).fill('Warehouse');
      await panel.getByRole('radio', { name: /Secret/ }).check();
      await panel.getByLabel('rows:write').uncheck();
      await panel.getByRole('button', { name: 'Create key' }).click();
      const dialog = page.getByRole('dialog');
      const secret = (await dialog.getByText(/^qk_sec_/).first().textContent()) ?? '';
      expect((await dialog.getByRole('button', { name: 'Done' }).getAttribute('aria-disabled')) === 'true', 'The secret can be closed before it is kept.');
      await dialog.getByLabel('I saved it').check();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('row', { name: /Warehouse/ }).waitFor();
      const rows = (method) => fetch(`${base}/v1/projects/${world.project}/rest/notes`, { method, headers: { apikey: secret, 'content-type': 'application/json' }, ...(method === 'POST' ? { body: '{"title":"no"}' } : {}) });
      expect((await rows('GET')).status === 200, 'The key does not read.');
      expect((await rows('POST')).status === 403, 'The key writes without the scope.');
      await page.goto(path(world, '/-/requests?outcome=refused'));
      await page.getByRole('row', { name: /POST.*403.*Warehouse/ }).waitFor();
      expect((await page.getByRole('row', { name: /GET.*200/ }).count()) === 0, 'The filter shows requests that succeeded.');
      await page.goto(path(world, '/-/keys'));
      await page.getByRole('row', { name: /Warehouse/ }).getByRole('button', { name: 'Revoke' }).click();
      const question = page.getByRole('dialog');
      await question.getByRole('textbox').fill('warehouse');
      expect((await question.getByRole('button', { name: 'Revoke' }).getAttribute('aria-disabled')) === 'true', 'Another name revokes the key.');
      await question.getByRole('textbox').fill('Warehouse');
      await question.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('No keys yet').waitFor();
      expect((await rows('GET')).status === 401, 'A revoked key still reads.');
    },
  },
  {
    name: 'settings refuse what is wrong, and a table becomes public only by its name',
    async run({ page, api, world, expect }) {
      await shop(api, world, THREE);
      await page.goto(path(world, '/-/settings'));
      await page.getByLabel('Sites whose pages may call').fill('shop.example.com/path');
      await page.getByText('is not an origin').first().waitFor();
      await page.getByLabel('Sites whose pages may call').fill('https://shop.example.com');
      const origins = page.getByRole('region', { name: 'Allowed sites' }).or(page.locator('section').filter({ hasText: 'Allowed sites' }));
      await answered(page, 'PATCH', '/settings', () => origins.getByRole('button', { name: 'Save' }).click());
      await page.getByLabel('products', { exact: true }).check();
      const tables = page.locator('section').filter({ hasText: 'Public tables' });
      await tables.getByRole('button', { name: 'Save' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox').fill('products');
      await answered(page, 'PATCH', '/settings', () => dialog.getByRole('button', { name: 'Make public' }).click());
      const project = await api('GET', `/v1/backend/projects/${world.project}`);
      expect(project.settings.allowedOrigins.join() === 'https://shop.example.com', 'The site was not saved.');
      expect(project.tables.find(({ name }) => name === 'products').publicRead, 'The table is not public.');
    },
  },
  {
    name: 'the structure of a table is changed: column, unique index, dropped table',
    async run({ page, api, world, expect }) {
      await shop(api, world, [...THREE, { id: 'jam2', name: 'Jam', stock: 1, sold: false, meta: null }]);
      await page.goto(path(world, '/products/structure'));
      await page.getByRole('link', { name: 'Add column' }).click();
      const panel = page.getByRole('complementary');
      await panel.getByLabel('Name', { exact: true }).fill('unit');
      await panel.getByLabel('Default').fill('piece');
      await panel.getByRole('button', { name: 'Add column' }).click();
      await page.getByRole('row', { name: /unit/ }).waitFor();
      await page.getByRole('link', { name: 'Add index' }).click();
      await panel.getByLabel('Column 1').selectOption('name');
      await panel.getByLabel('Unique').check();
      await panel.getByRole('button', { name: 'Add index' }).click();
      await panel.getByRole('alert').waitFor();
      await panel.getByLabel('Unique').uncheck();
      await panel.getByRole('button', { name: 'Add index' }).click();
      await page.getByRole('row', { name: /ix1/ }).last().waitFor();
      await page.getByRole('button', { name: 'Drop table' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('products');
      await page.getByRole('dialog').getByRole('button', { name: 'Drop table' }).click();
      await page.getByText('Table products dropped').waitFor();
      const { tables } = await api('GET', `/v1/backend/projects/${world.project}`);
      expect(!tables.some(({ name }) => name === 'products'), 'The table is still there.');
    },
  },
  {
    name: 'a project whose last request is older than the metrics is not said to have had none',
    async run({ page, world }) {
      const entry = { id: '1', at: new Date(Date.now() - 3 * 3_600_000).toISOString(), method: 'GET', path: '/v1/projects/x/rest/products', table: 'products', status: 200, errorCode: null, keyName: 'Shop', keyPrefix: null, rows: 1, durationMs: 2 };
      await page.route('**/logs?*', async (route) => {
        const body = await (await route.fetch()).json();
        await route.fulfill({ json: { ...body, logs: [entry], metrics: { ...body.metrics, lastRequestAt: null } } });
      });
      await page.goto(path(world, '/-/requests'));
      await page.locator(`dl time[datetime="${entry.at}"]`).waitFor();
      await page.goto(path(world, '/-/requests?outcome=failed'));
      await page.getByText('None of the latest 1 requests match').waitFor();
    },
  },
  {
    name: 'a count of rows that is not of now says of when it is',
    async run({ page, world, expect }) {
      let at = new Date(Date.now() - 3 * 3_600_000).toISOString();
      await page.route(`**/v1/backend/projects/${world.project}`, async (route) => {
        const project = await (await route.fetch()).json();
        await route.fulfill({ json: { ...project, rowCount: 12_345, rowCountAt: at } });
      });
      const rows = page.locator('dl.facts > div').filter({ has: page.getByText('Rows', { exact: true }) });
      await page.goto(path(world));
      await rows.getByText('12,345, counted').waitFor();
      expect((await rows.locator('time').getAttribute('datetime')) === at, 'It is not said of when the count is.');
      at = new Date().toISOString();
      await page.goto(path(world));
      await rows.getByText('12,345', { exact: true }).waitFor();
    },
  },
  {
    name: 'a table whose rows were not counted is not said to have none',
    async run({ page, api, world }) {
      await shop(api, world, THREE);
      await page.route(`**/v1/backend/projects/${world.project}`, async (route) => {
        const project = await (await route.fetch()).json();
        await route.fulfill({ json: { ...project, tables: project.tables.map((table) => ({ ...table, rowCount: null })) } });
      });
      await page.goto(path(world, '/products/structure'));
      await page.getByRole('button', { name: 'Drop table' }).click();
      await page.getByRole('dialog').getByText('All its rows are gone at once. They were not counted.', { exact: false }).waitFor();
      await page.keyboard.press('Escape');
      await page.goto(path(world, '/products/structure/new-column'));
      const panel = page.locator('aside.panel');
      await panel.getByLabel('Name', { exact: true }).fill('weight');
      await panel.getByLabel('May be null').uncheck();
      await panel.getByText('A column that cannot be null needs an empty table.').waitFor();
    },
  },
  {
    name: 'a column is renamed and dropped, but not while a rule names it',
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      await api('PUT', `${table}/policy`, { sentences: ['Anyone may read id, stock of every row.'] });
      await page.goto(path(world, '/products/structure'));
      const menu = (name) => page.getByRole('row', { name: new RegExp(`^${name} `) }).getByRole('button', { name: `Actions on ${name}` });
      const dialog = page.getByRole('dialog');
      await menu('sold').click();
      await page.getByRole('menuitem', { name: 'Rename…' }).click();
      await dialog.getByLabel('Name').fill('stock');
      await dialog.getByText('There is one of this name already.').waitFor();
      await dialog.getByLabel('Name').fill('is_sold');
      await dialog.getByRole('button', { name: 'Rename', exact: true }).click();
      await menu('is_sold').waitFor();
      expect((await row(api, table, 'tea')).is_sold === true, 'The values did not follow the name.');
      const drop = async (name) => {
        await menu(name).click();
        await page.getByRole('menuitem', { name: 'Drop column' }).click();
        await dialog.getByRole('textbox').fill(name);
        await dialog.getByRole('button', { name: 'Drop column' }).click();
      };
      await drop('stock');
      await page.getByRole('status').getByText('rule', { exact: false }).first().waitFor();
      expect('stock' in (await row(api, table, 'tea')), 'A column that a rule names was dropped.');
      await drop('is_sold');
      await page.getByText('Column is_sold dropped').waitFor();
      expect(!('is_sold' in (await row(api, table, 'tea'))), 'The column is still there.');
    },
  },
  {
    name: 'a member reads what somebody else owns, and is told why they may not change it',
    role: 'member',
    async run({ page, api, world, expect }) {
      await shop(api, world, THREE);
      await page.goto(path(world, '/products'));
      await page.getByRole('gridcell', { name: 'Jam', exact: true }).waitFor();
      const insert = page.getByRole('button', { name: 'Insert row' });
      expect((await insert.getAttribute('aria-disabled')) === 'true', 'A member without the right may insert.');
      await page.getByRole('gridcell', { name: 'Jam', exact: true }).click();
      await page.keyboard.type('x');
      expect((await page.getByRole('grid').locator('textarea').count()) === 0, 'A member without the right may edit.');
      await page.goto(path(world, '/-/keys'));
      await page.getByText('Only its owner may do this').first().waitFor();
    },
  },
  {
    name: 'on a phone a row is opened, changed and saved',
    phone: true,
    async run({ page, api, world, expect }) {
      const table = await shop(api, world, THREE);
      await openGrid(page, world);
      await page.getByRole('row', { name: /tea/ }).getByRole('link', { name: 'Open row' }).tap();
      const panel = page.getByRole('complementary');
      await panel.getByLabel('stock', { exact: true }).fill('twelve');
      await panel.getByText('A whole number').waitFor();
      await panel.getByLabel('stock', { exact: true }).fill('13');
      await answered(page, 'PATCH', '/rows/tea', () => panel.getByRole('button', { name: 'Save' }).tap());
      await page.getByText('Saved', { exact: true }).waitFor();
      expect((await row(api, table, 'tea')).stock === 13, 'The row was not saved.');
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'The page is wider than the phone.');
    },
  },
  {
    name: 'a project is deleted by its name and restored',
    async run({ page, api, world, expect }) {
      const { name } = await api('GET', `/v1/backend/projects/${world.project}`);
      await page.goto(path(world, '/-/settings'));
      await page.getByRole('button', { name: 'Delete project' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Delete project' }).click();
      await page.waitForURL(/deleted=true/);
      await page.getByRole('listitem').filter({ hasText: name }).getByRole('button', { name: 'Restore' }).click();
      await page.getByText('No deleted projects').waitFor();
      expect((await api('GET', `/v1/backend/projects/${world.project}`)).name === name, 'The project is not back.');
    },
  },
  {
    name: 'a table is made of a file: its columns, their types and its rows',
    run: async ({ page, base, api, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/data/${world.project}/-/new-table`);
      await page.getByText('From a file').click();
      const csv = 'E-mail;Amount;Paid;Code\naru@example.com;1 234,50;yes;007\nbek@example.com;12,5;no;042\n';
      await page.locator('aside.panel input[type=file]').setInputFiles({ name: 'Paying people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
      await page.getByRole('button', { name: 'Create table and import 2 rows' }).click();
      await page.getByText('2 rows imported').waitFor();
      await page.waitForURL(/\/paying_people$/);
      const { tables } = await api('GET', `/v1/backend/projects/${world.project}`);
      const columns = tables.find(({ name }) => name === 'paying_people').columns.filter(({ system }) => !system).map(({ name, type }) => `${name} ${type}`);
      expect(columns.join() === 'e_mail text,amount real,paid boolean,code text', `the columns are ${columns.join()}`);
      const rows = await api('GET', `/v1/backend/projects/${world.project}/tables/paying_people/rows?select=amount,paid,code&order=code`);
      expect(JSON.stringify(rows) === JSON.stringify([{ amount: 1234.5, paid: true, code: '007' }, { amount: 12.5, paid: false, code: '042' }]), `the rows are ${JSON.stringify(rows)}`);
    },
  },
  {
    name: 'the newest rows come first by choice, and the grid has the whole width',
    run: async ({ page, base, api, world, expect }) => {
      await api('POST', `/v1/backend/projects/${world.project}/tables`, { name: 'visits', columns: [{ name: 'note', type: 'text', nullable: true }] });
      for (const note of ['first', 'last']) await api('POST', `/v1/backend/projects/${world.project}/tables/visits/rows`, { note });
      await page.goto(`${base}/w/${world.ws}/data/${world.project}/visits`);
      await page.getByRole('gridcell', { name: 'first' }).waitFor();
      const before = (await page.locator('.grid').boundingBox()).width;
      await page.getByRole('button', { name: 'Hide the tables' }).click();
      expect((await page.locator('.grid').boundingBox()).width > before + 150, 'the grid is wider');
      await page.getByRole('button', { name: 'Newest first' }).click();
      await page.waitForURL(/order=created_at\.desc/);
      await page.locator('.grid-row').first().getByText('last').waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Show the tables' }).waitFor();
      await page.locator('.grid-row').first().getByText('last').waitFor();
    },
  },
];
