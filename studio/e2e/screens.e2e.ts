import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  card,
  choose,
  editor,
  example,
  launch,
  look,
  openPage,
  Studio,
  type Theme,
  typeInto,
} from './world';

const BROKEN_SERVER =
  '  absent: { command: sh, args: [-c, "echo the key is missing >&2; exit 3"] }\n';

/** Texts of tools that would do harm if they were shown as anything but text. */
const HOSTILE = `
  - name: hostile
    description: "<img src=x onerror=alert(1)>"
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: say }
      - id: say
        type: transform
        transform: { expr: '{ "html": "<img src=x onerror=document.title=1><script>alert(1)</script>" }' }
        next: exit
      - { id: exit, type: exit }
`;

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

const dialog = async (page: Page, key: string, name: string, theme: Theme) => {
  await page.keyboard.press(key);
  await page.locator('dialog[open]').waitFor();
  await look(page, name, theme);
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
};

/** The same where there is little room for columns, and none: nothing stands outside of it. */
const narrow = async (page: Page, name: string, theme: Theme) => {
  const size = page.viewportSize();
  for (const width of [768, 520, 390]) {
    await page.setViewportSize({ width, height: 800 });
    if (width === 520) await look(page, name, theme);
    const inside = await page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('.head, .empty')].map(
        ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
      ),
    );
    expect(Math.max(...inside), `${width}`).toBe(0);
  }
  if (size) await page.setViewportSize(size);
};

describe.each<Theme>(['light', 'dark'])('in the %s theme', (theme) => {
  it('a graph is seen, run and looked at', async () => {
    const text = example('orders.yaml').replace('mcpServers:\n', `mcpServers:\n${BROKEN_SERVER}`);
    const studio = await Studio.start(text);
    const { page, complaints } = await openPage(browser, studio.url, theme);
    await card(page, 'pending').waitFor();
    await look(page, 'graph', theme);
    await narrow(page, 'graph-narrow', theme);
    await choose(page, 'pending');
    await page.getByText('Lists the orders').waitFor();
    await look(page, 'node', theme);
    await dialog(page, 'n', 'add', theme);
    await dialog(page, 'c', 'connect', theme);
    await dialog(page, '?', 'keys', theme);
    await dialog(page, '/', 'search', theme);
    await page.getByRole('tab', { name: 'Tool' }).click();
    await editor(page, 'Schema of the arguments').waitFor();
    await look(page, 'tool', theme);
    await page.keyboard.press('l');
    await look(page, 'list', theme);
    await page.keyboard.press('l');
    await page.keyboard.press('y');
    await editor(page, 'Graph file').waitFor();
    await look(page, 'text', theme);
    await page.keyboard.press('y');

    await page.getByRole('tab', { name: 'Run' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).last().click();
    await page.getByText('The run gave its result').waitFor();
    await look(page, 'run', theme);
    await page.getByRole('button', { name: 'Rows' }).click();
    for (let n = 0; n < 4; n += 1) await page.keyboard.press('[');
    await page.getByText('Viewing step').waitFor();
    await look(page, 'past', theme);
    const search = page.getByLabel('Find in the steps');
    await search.fill('= output.orders');
    await page.getByRole('button', { name: '1 found' }).click();
    await page.getByText('Viewing step 1').waitFor();
    await search.fill('= output.(');
    await page.locator('#find-problem').waitFor();
    await look(page, 'find', theme);
    await search.fill('');
    const shown = {
      Context: page.getByRole('tabpanel').locator('.json').first(),
      Diff: page.locator('.diff-frame .cm-content').first(),
      Expression: editor(page, 'Expression'),
    };
    for (const [tab, content] of Object.entries(shown)) {
      await page.getByRole('tab', { name: tab }).click();
      await content.waitFor();
      await look(page, tab.toLowerCase(), theme);
    }
    await page.getByRole('tab', { name: 'Node' }).click();
    await page.getByRole('button', { name: 'Edit output and fork' }).click();
    await page.getByText('Kept:').waitFor();
    await editor(page, 'Output of pending').waitFor();
    await look(page, 'fork', theme);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Breakpoints' }).click();
    await look(page, 'breakpoints', theme);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Runs', exact: true }).click();
    await page.getByRole('cell', { name: 'succeeded' }).first().waitFor();
    await look(page, 'runs', theme);
    await narrow(page, 'runs-narrow', theme);
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No run fits').waitFor();
    await look(page, 'runs-none', theme);
    await page.getByRole('button', { name: 'Upstreams', exact: true }).click();
    await page
      .getByRole('article', { name: 'absent' })
      .getByRole('button', { name: 'Start and list its tools' })
      .click();
    await page.getByText('the key is missing').first().waitFor();
    await look(page, 'upstreams', theme);
    expect(complaints).toEqual([]);
    await studio.stop();
  });

  it('nothing, and what is wrong, are shown too', async () => {
    const studio = await Studio.start('server: { name: none, version: "1" }\ntools: []\n');
    const { page, complaints } = await openPage(browser, studio.url, theme);
    await page.getByText('No tools yet').first().waitFor();
    await look(page, 'no-tools', theme);
    await page.getByRole('button', { name: 'New tool' }).click();
    await look(page, 'new-tool', theme);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Runs', exact: true }).click();
    await page.getByText('No runs yet').waitFor();
    await look(page, 'no-runs', theme);
    await page.getByRole('button', { name: 'Workflows', exact: true }).click();
    await page.getByText('No workflows yet').waitFor();
    await look(page, 'no-workflows', theme);
    await narrow(page, 'no-workflows-narrow', theme);
    await page.getByLabel('New workflow from a template').selectOption('redact');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    await page.getByRole('button', { name: 'Workflows', exact: true }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('enabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Procedures', exact: true }).click();
    await page.getByText('No procedures').waitFor();
    await look(page, 'no-procedures', theme);
    await page.getByRole('button', { name: 'Upstreams', exact: true }).click();
    await page.getByText('No upstream servers').waitFor();
    await look(page, 'no-upstreams', theme);

    await page.getByRole('button', { name: 'Tools', exact: true }).click();
    studio.write('tools: [');
    await page.getByText('The file cannot be read as a graph').waitFor();
    await editor(page, 'Graph file').waitFor();
    await look(page, 'unreadable', theme);
    await typeInto(page, 'Graph file', `server: { name: mended, version: "1" }\ntools:${HOSTILE}`);
    await page.getByRole('button', { name: 'hostile' }).click();
    await card(page, 'say').waitFor();
    await page.getByRole('button', { name: 'Save and run' }).click();
    await page.getByText('The run gave its result').waitFor();
    await page.getByText('<img src=x').first().waitFor();
    expect(await page.title()).toBe('hostile – mcpgraph studio');
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    await look(page, 'hostile', theme);
    expect(complaints).toEqual([]);
    await studio.stop();
  });
});
