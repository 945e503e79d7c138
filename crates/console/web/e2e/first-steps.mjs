// The path of docs/first-steps.md: from signing in to a webhook call that became a row. Keep both the same.

import { freshAddress } from './second-person.mjs';

/** Walks the path in a visitor's browser. `picture` is called after each step with its name. */
export async function walkFirstSteps({ page, base, picture = async () => {} }) {
  const button = (name) => page.getByRole('button', { name, exact: true });
  const main = page.getByRole('main');

  await page.goto(base);
  await page.getByLabel('E-mail address', { exact: true }).fill(freshAddress('aru'));
  await picture('sign-in');
  await button('Sign in without a code').click();

  await page.getByRole('textbox', { name: 'Name' }).fill('Meruert');
  await picture('workspace');
  await button('Create workspace').click();
  await page.getByRole('heading', { name: 'City', level: 1 }).waitFor();
  await picture('city');

  await page.getByRole('link', { name: 'Data' }).first().click();
  await main.getByRole('link', { name: 'Starter data' }).first().click();
  await main.getByRole('link', { name: 'New table' }).first().click();
  const panel = page.getByRole('complementary');
  await panel.getByLabel('Name', { exact: true }).first().fill('messages');
  await panel.getByRole('group', { name: 'Column', exact: true }).getByLabel('Name').fill('title');
  await picture('table');
  await panel.getByRole('button', { name: 'Create table' }).click();
  await page.getByRole('heading', { name: 'messages', level: 1 }).waitFor();

  await page.getByRole('link', { name: 'Apps' }).first().click();
  await main.getByRole('link', { name: 'New app' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Mailbox');
  await page.getByLabel('What it does').selectOption({ label: 'Keeps what starts it as rows of a table' });
  await page.getByLabel('Table', { exact: true }).selectOption('messages');
  await picture('app');
  await button('Create app').click();
  await page.getByRole('heading', { name: 'Mailbox', level: 1 }).waitFor();

  await page.getByRole('link', { name: 'Automations' }).first().click();
  await main.getByRole('button', { name: 'Create automation' }).first().click();
  await panel.getByLabel('Name', { exact: true }).fill('Incoming');
  await panel.getByLabel('App', { exact: true }).selectOption({ label: 'Mailbox' });
  await panel.getByRole('radio', { name: /^Webhook/ }).check();
  await picture('automation');
  await panel.getByRole('button', { name: 'Create automation' }).click();

  await page.getByRole('radio', { name: /^Token/ }).check();
  await button('Set up').click();
  const secret = page.getByRole('dialog', { name: 'Secret of the webhook' });
  await secret.waitFor();
  await picture('webhook');
  await secret.getByRole('checkbox').check();
  await secret.getByRole('button', { name: 'Done' }).click();

  await button('Send test').click();
  const test = page.getByRole('dialog', { name: 'Send test' });
  await test.getByRole('button', { name: 'Send test' }).click();
  await test.getByText('Succeeded').waitFor();
  await picture('call');
  await test.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('link', { name: 'Data' }).first().click();
  await main.getByRole('link', { name: 'Starter data' }).first().click();
  await main.getByRole('link', { name: 'messages' }).first().click();
  await page.getByRole('gridcell', { name: 'Hello' }).waitFor();
  await picture('row');
}
