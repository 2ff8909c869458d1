import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, choose, launch, look, openPage, Studio, typeInto } from './world';

const EMPTY = `# Made by hand.
version: "1.0"
server: { name: files, version: "1.0.0" }
mcpServers:
  files: { command: "\${MCPGRAPH_BIN}", args: [demo-server, --root, "\${GRAPH_DIR}/data"] }
tools: []
`;

let browser: Browser;
let studio: Studio;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(EMPTY);
  ({ page, complaints } = await openPage(browser, studio.url));
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

it('a tool is built by hand and saved', async () => {
  await page.getByRole('button', { name: 'Make the first tool' }).click();
  await page.getByLabel('Name').fill('count_files');
  await page.keyboard.press('Enter');
  await card(page, 'entry').waitFor();

  await page.getByRole('tab', { name: 'Tool' }).click();
  const schema = {
    type: 'object',
    properties: { directory: { type: 'string' } },
    required: ['directory'],
  };
  await typeInto(page, 'Schema of the arguments', JSON.stringify(schema));
  await page.waitForFunction(() => document.querySelector('.chip.bad') === null);

  await choose(page, 'entry');
  await page.getByRole('tab', { name: 'Node' }).click();
  await page.keyboard.press('n');
  await page.getByRole('button', { name: /^Call/ }).click();
  await card(page, 'call').waitFor();
  await page.getByLabel('Tool', { exact: true }).selectOption('list_directory');
  await page.getByRole('button', { name: 'path is an expression' }).click();
  await page.getByRole('textbox', { name: /^path/ }).fill('$.entry.directory');
  await page.keyboard.press('Enter');

  await page.getByLabel('Name').fill('list_directory');
  await page.keyboard.press('Enter');
  await card(page, 'list_directory').waitFor();

  await page.keyboard.press('n');
  await page.getByRole('button', { name: /^Transform/ }).click();
  await card(page, 'transform').waitFor();
  await typeInto(
    page,
    'Expression, in JSONata',
    '{ "count": $count($split($.list_directory.content, "\\n")) }',
  );
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();

  const text = studio.read();
  expect(text).toContain('# Made by hand.');
  expect(text).toContain('$.entry.directory');
  expect(text).toContain('$count($split($.list_directory.content');
});

it('edges are made with the keyboard, and changes are taken back', async () => {
  const before = await page.locator('.react-flow__edge').count();
  await choose(page, 'list_directory');
  await page.keyboard.press('c');
  await page.getByLabel('To', { exact: true }).selectOption('exit');
  await page.getByLabel('When').selectOption('if it fails');
  await page.getByRole('button', { name: 'Connect', exact: true }).last().click();
  await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(before + 1);
  await page.keyboard.press('ControlOrMeta+z');
  await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(before);
  await page.keyboard.press('ControlOrMeta+Shift+z');
  await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(before + 1);
  await page.keyboard.press('ControlOrMeta+z');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
});

it('a question and a wait are filled in', async () => {
  await choose(page, 'transform');
  await page.keyboard.press('n');
  await page.getByRole('button', { name: /^Wait/ }).click();
  await card(page, 'wait').waitFor();
  await page.getByLabel('How long').fill('250');
  await page.keyboard.press('Enter');
  await card(page, 'wait').getByText('for 250 ms').waitFor();
  await look(page, 'wait', 'light');
  await page.getByLabel('It waits').selectOption('until a time that is computed');
  await page.getByLabel('Until when, in JSONata').fill('$.entry.due');
  await page.keyboard.press('Enter');
  await card(page, 'wait').getByText('until $.entry.due').waitFor();

  await page.keyboard.press('n');
  await page.getByRole('button', { name: /^Question Asks/ }).click();
  await card(page, 'ask').waitFor();
  await page.getByLabel('What is asked').fill('Count them all?');
  await page.keyboard.press('Enter');
  await page.getByLabel('If the person declines').selectOption('exit');
  await card(page, 'ask').getByText('Count them all?').waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  const text = studio.read();
  expect(text).toMatch(/until:\s*\{?\s*"?expr"?: "?\$\.entry\.due/);
  expect(text).not.toContain('duration');
  expect(text).toContain('Count them all?');
  expect(text).toMatch(/onDecline: "?exit/);

  // What follows is about the tool without them.
  for (const id of ['ask', 'wait']) {
    await choose(page, id);
    await page.getByRole('button', { name: `Remove ${id}` }).click();
    await card(page, id).waitFor({ state: 'hidden' });
  }
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
});

it('it runs, stops at a breakpoint and is stepped through', async () => {
  await choose(page, 'transform');
  await page.keyboard.press('b');
  await page.getByRole('tab', { name: 'Run' }).click();
  await page.getByRole('textbox', { name: /^directory/ }).fill('.');
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await card(page, 'transform').getByText('paused here').waitFor();
  await card(page, 'list_directory').getByText('done').waitFor();
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  await card(page, 'transform').getByText('done').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('succeeded', { exact: true }).first().waitFor();
  await page.getByText('The run gave its result').waitFor();
  await page.getByLabel('Result, value').getByText('count:').waitFor();
});

it('time goes back, and another output gives another run', async () => {
  await page.keyboard.press('[');
  await page.keyboard.press('[');
  await page.getByText('Viewing step 1').waitFor();
  await card(page, 'transform').getByText('not run').waitFor();
  expect(page.url()).toContain('step=1');
  await page.getByRole('button', { name: 'Edit output and fork' }).click();
  await page.getByText('Kept: 2 steps').waitFor();
  await page.getByText('No upstream tool will be called').waitFor();
  await typeInto(page, 'Output of list_directory', '{ "content": "a\\nb\\nc\\nd\\ne" }');
  await card(page, 'transform')
    .locator('.break')
    .evaluate((button) => (button as HTMLElement).click());
  await page.getByRole('button', { name: 'Begin the new run' }).click();
  await page.getByText('forked at step 2').waitFor();
  await page.getByText('succeeded', { exact: true }).first().waitFor();
  await card(page, 'list_directory').getByText('output set by hand').waitFor();
  await page.getByRole('button', { name: 'Go to the end' }).waitFor({ state: 'hidden' });
  await page.keyboard.press('End');
  await page.getByLabel('Output, value').getByText('5').waitFor();
  const { runs } = await studio.api<{ runs: { origin: { parent?: { from: number } } }[] }>(
    '/api/runs',
  );
  expect(runs[0]?.origin.parent?.from).toBe(2);
});

it('a link leads to the same run, step, node and tab', async () => {
  await page.getByRole('tab', { name: 'Context' }).click();
  await page.keyboard.press('[');
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByText('Viewing step').waitFor();
  await expect
    .poll(() => other.getByRole('tab', { name: 'Context' }).getAttribute('aria-selected'))
    .toBe('true');
  await other.close();
});

it('the browser had nothing to complain about', () => expect(complaints).toEqual([]));
