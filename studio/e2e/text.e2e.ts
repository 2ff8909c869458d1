import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { card, choose, editor, example, launch, openPage, Studio, typeInto } from './world';

const NO_TOOLS = 'server: { name: files, version: "1.0.0" }\ntools: []\n';

/** More than the page waits before it asks what a text says, and the answer takes. */
const PAUSE_MS = 900;

let browser: Browser;
let studio: Studio;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
});

beforeEach(() => {
  complaints = [];
});

afterEach(async () => {
  await page.context().close();
  await studio.stop();
  expect(complaints).toEqual([]);
});

afterAll(() => browser.close());

async function open(text: string, address = '') {
  studio = await Studio.start(text);
  ({ page, complaints } = await openPage(browser, studio.url + address));
}

/** Shows the text and marks its editor, to see whether it is the same one later. */
async function beginTyping() {
  await page.keyboard.press('y');
  await markEditor();
}

async function markEditor() {
  await editor(page, 'Graph file').click();
  await editor(page, 'Graph file').evaluate((element) => {
    element.dataset.marked = 'yes';
  });
  await page.keyboard.press('ControlOrMeta+End');
}

/** Types in pieces, with a rest between them in which the page finds out what the text says. */
async function typeWithRests(...pieces: string[]) {
  for (const piece of pieces) {
    await page.keyboard.type(piece);
    await page.waitForTimeout(PAUSE_MS);
  }
}

/** What is typed is in the text, and the editor is the one that was there before. */
async function expectTyped(text: string) {
  const typed = editor(page, 'Graph file');
  expect(await typed.evaluate((element) => element.dataset.marked)).toBe('yes');
  await expect.poll(() => typed.innerText()).toContain(text);
}

it('a text that cannot be read for a moment keeps the keys and the graph', async () => {
  await open(example('loops.yaml'), '#/graph/sum_to_n');
  await card(page, 'result').waitFor();
  await beginTyping();
  await typeWithRests('  - name: "', 'second"');
  await expectTyped('- name: "second"');
  await card(page, 'result').waitFor();
  await page.getByRole('toolbar', { name: 'Graph and run' }).waitFor();
  await page.getByRole('region', { name: 'Tools' }).getByText('second').waitFor();
});

it('a tool that is renamed in the text stays in sight', async () => {
  await open(example('loops.yaml'), '#/graph/sum_to_n');
  await choose(page, 'result');
  await page.keyboard.press('b');
  await beginTyping();
  await page.keyboard.press('ControlOrMeta+Home');
  await editor(page, 'Graph file').getByText('name: sum_to_n').click();
  await page.keyboard.press('End');
  await typeWithRests('_m', 'ore');
  await expectTyped('name: sum_to_n_more');
  await card(page, 'result').waitFor();
  await page.getByRole('heading', { name: 'sum_to_n_more' }).waitFor();
  await page.getByRole('button', { name: '1 breakpoint' }).waitFor();
  expect(page.url()).toContain('#/graph/sum_to_n_more');

  // Without any tool there is still the text.
  await typeInto(page, 'Graph file', NO_TOOLS);
  await page.getByText('No tools yet').first().waitFor();
  await expectTyped('tools: []');
});

it('a workflow of the file stays in sight while its text is changed', async () => {
  await open(example('workflows.yaml'), '#/workflows/audit');
  await page.locator('.react-flow__node').first().waitFor();
  await beginTyping();
  await typeWithRests('x: [', 'zz');
  await expectTyped('x: [zz');
  await page.locator('.react-flow__node').first().waitFor();
  await typeWithRests(']');

  await typeInto(page, 'Graph file', NO_TOOLS);
  await page.getByText('There is no workflow audit').waitFor();
  await expectTyped('tools: []');
  await page.keyboard.press('ControlOrMeta+z');
  await page.locator('.react-flow__node').first().waitFor();
});

it('whoever mends a file goes on in its text', async () => {
  await open(`${example('loops.yaml')}x: [`);
  await page.getByText('The file cannot be read as a graph').waitFor();
  await markEditor();
  await typeWithRests(']', ' # mended');
  await expectTyped('x: [] # mended');
  await page.locator('.react-flow__node').first().waitFor();
});
