import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Client, card, choose, launch, look, openPage, Studio } from './world';

const GRAPH = `server: { name: steps, version: "1.0.0" }
tools:
  - name: walk
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: first }
      - { id: first, type: transform, transform: { expr: "1" }, next: second }
      - { id: second, type: transform, transform: { expr: "$.first + 1" }, next: exit }
      - { id: exit, type: exit }
`;

const OTHER = `  - name: other
    inputSchema: { type: object }
    nodes: [{ id: entry, type: entry, next: exit }, { id: exit, type: exit }]
`;

let browser: Browser;
let studio: Studio;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

beforeEach(async () => {
  studio = await Studio.start(GRAPH);
  ({ page, complaints } = await openPage(browser, `${studio.url}#/graph/walk`));
  await choose(page, 'second');
  await page.keyboard.press('b');
  await ring('second').waitFor();
});

afterEach(async () => {
  expect(complaints).toEqual([]);
  await page.context().close();
  await studio.stop();
});

/** The breakpoint at a node, if it is set. */
const ring = (id: string) => card(page, id).locator('.break[aria-pressed="true"]');

const count = (text: string) => page.getByRole('button', { name: text, exact: true });

const run = () => page.getByRole('toolbar').getByRole('button', { name: 'Run' }).click();

it('a breakpoint goes with its node when that is renamed, back and forth', async () => {
  await page.getByLabel('Name', { exact: true }).fill('last');
  await page.keyboard.press('Enter');
  await ring('last').waitFor();
  await page.keyboard.press('ControlOrMeta+z');
  await ring('second').waitFor();
  await page.getByRole('heading', { name: 'second' }).waitFor();
  await page.keyboard.press('ControlOrMeta+Shift+z');
  await ring('last').waitFor();
  await count('1 breakpoint').waitFor();
  await run();
  await card(page, 'last').getByText('paused here').waitFor();
});

it('a breakpoint goes when its node does, and comes back with it', async () => {
  await page.getByRole('button', { name: 'Remove second' }).click();
  await card(page, 'second').waitFor({ state: 'detached' });
  await count('Breakpoints').waitFor();
  await page.keyboard.press('ControlOrMeta+z');
  await ring('second').waitFor();
  await count('1 breakpoint').waitFor();
  await page.keyboard.press('ControlOrMeta+Shift+z');
  await card(page, 'second').waitFor({ state: 'detached' });
  await count('Breakpoints').waitFor();
  await run();
  await page.getByText('The run gave its result').waitFor();
});

it('a breakpoint whose node is gone from the file is marked, and left out', async () => {
  studio.write(GRAPH.replaceAll('second', 'other'));
  await card(page, 'other').waitFor();
  await choose(page, 'first');
  await page.keyboard.press('b');
  await count('2 breakpoints').click();
  const stray = page.locator('.rule-item').filter({ hasText: 'second' });
  await stray.getByText('no such node').waitFor();
  expect(await page.getByText('no such node').count()).toBe(1);
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await look(page, 'breakpoint-stray', theme);
  }
  await page.keyboard.press('Escape');
  await run();
  await card(page, 'first').getByText('paused here').waitFor();
});

it('a breakpoint that the server refuses is marked, and the run begins without it', async () => {
  // The page does not hear of what happens to the file.
  await page.route('**/api/graphs/version', (route) => route.abort());
  studio.write(GRAPH.replaceAll('second', 'last') + OTHER);
  const client = await Client.connect(studio);
  await expect.poll(() => client.listTools()).toContain('other');
  await run();
  await page.getByText('The breakpoint at second belongs to no node').waitFor();
  await page.getByText('succeeded', { exact: true }).first().waitFor();
  await count('1 breakpoint').click();
  await page.getByText('no such node').waitFor();
});
