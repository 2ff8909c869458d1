import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, editor, launch, look, openPage, Studio } from './world';

const EMPTY = `version: "1.0"
server: { name: files, version: "1.0.0" }
mcpServers:
  files: { command: "\${MCPGRAPH_BIN}", args: [demo-server, --root, "\${GRAPH_DIR}/data"] }
tools: []
`;

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

it('an empty file has several ways to a first tool', async () => {
  const studio = await Studio.start(EMPTY);
  const { page, complaints } = await openPage(browser, studio.url);
  const text = page.getByRole('button', { name: /^Write or paste YAML/ });
  await text.click();
  await editor(page, 'Graph file').waitFor();
  await look(page, 'no-tools-text', 'light');
  await text.click();

  await page.getByRole('button', { name: /^Start with a server/ }).click();
  await page.getByLabel('Its tool').selectOption('list_directory');
  expect(await page.getByLabel('Name').inputValue()).toBe('list_directory');
  await look(page, 'new-call', 'light');
  await page.getByRole('button', { name: 'Add the tool' }).click();
  await card(page, 'call').waitFor();
  await page.getByRole('textbox', { name: /^path/ }).fill('.');
  await page.getByRole('button', { name: 'Save and run' }).click();
  await page.getByText('The run gave its result').waitFor();
  expect(studio.read()).toContain('$.entry.path');

  // What is looked for anywhere in a run is marked in its steps.
  await page.keyboard.press('/');
  await page.keyboard.type('alpha');
  await page.getByRole('option', { name: /in the steps of this run/ }).click();
  await page.getByRole('button', { name: /^[1-9] found/ }).waitFor();
  expect(page.url()).toContain('find=alpha');
  expect(complaints).toEqual([]);
  await studio.stop();
});

it('the example runs as it is', async () => {
  const studio = await Studio.start(EMPTY);
  const { page, complaints } = await openPage(browser, studio.url);
  await page.getByRole('button', { name: /^Start with an example/ }).click();
  await card(page, 'size').waitFor();
  await page.getByRole('textbox', { name: /^text/ }).fill('four words are short');
  await page.getByRole('button', { name: 'Save and run' }).click();
  await page.getByLabel('Result, value').getByText('This is a short text.').waitFor();
  await card(page, 'long').getByText('not run').waitFor();
  expect(complaints).toEqual([]);
  await studio.stop();
});

it('a file without a line is begun with its first tool', async () => {
  const studio = await Studio.start('');
  const { page, complaints } = await openPage(browser, studio.url);
  await page.getByRole('heading', { name: 'No tools yet' }).waitFor();
  await page.getByRole('button', { name: /^Start with an example/ }).click();
  await card(page, 'size').waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  expect(studio.read()).toContain('name: starter');
  expect(complaints).toEqual([]);
  await studio.stop();
});
