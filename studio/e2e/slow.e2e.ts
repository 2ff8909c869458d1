import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { card, choose, editor, launch, openPage, Studio, slowly, typeInto } from './world';

const GRAPH = `version: "1.0"
server: { name: files, version: "1.0.0" }
mcpServers:
  files: { command: "\${MCPGRAPH_BIN}", args: [demo-server, --root, "\${GRAPH_DIR}/data"] }
tools:
  - name: count
    description: Counts
    inputSchema: { type: object, properties: { directory: { type: string } } }
    nodes:
      - { id: entry, type: entry, next: call }
      - { id: call, type: mcp, server: files, tool: list_directory, args: {}, next: tally }
      - { id: tally, type: transform, transform: { expr: "$.call.content" }, next: exit }
      - { id: exit, type: exit }
`;

/** Takes one after the other, and begins again. */
function inTurn(...times: number[]): () => number {
  let next = 0;
  return () => {
    next += 1;
    return times[next % times.length] ?? 0;
  };
}

/** How long each answer takes, in milliseconds. */
const CONNECTIONS: [string, () => number][] = [
  ['slow', () => 600],
  ['fitful', inTurn(40, 700, 150, 450, 10, 900, 300)],
];

let browser: Browser;
let studio: Studio;

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(GRAPH);
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const path = (page: Page) => page.getByRole('textbox', { name: /^path/ });

/** Saves at once: what is on its way into the file belongs to what is saved. */
async function save(page: Page) {
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
}

describe.each(CONNECTIONS)('on a %s connection', (_, delay) => {
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    studio.write(GRAPH);
    ({ page, complaints } = await openPage(browser, `${studio.url}#/graph/count`));
    await slowly(page, '**/api/draft', delay);
    await choose(page, 'call');
    await path(page).waitFor();
    return async () => {
      expect(complaints).toEqual([]);
      await page.context().close();
    };
  });

  it('a name that is given right after an argument is given, and the argument too', async () => {
    await page.getByRole('button', { name: 'path is an expression' }).click();
    await path(page).fill('$.entry.directory');
    await page.keyboard.press('Enter');
    await field(page, 'Name').fill('list_directory');
    await page.keyboard.press('Enter');
    await card(page, 'list_directory').waitFor();
    await save(page);
    expect(studio.read()).toContain('id: list_directory');
    expect(studio.read()).toContain('$.entry.directory');
    expect(studio.read()).toContain('$.list_directory.content');
  });

  it('what is said of a node by its old name is done to the node', async () => {
    await field(page, 'Name').fill('first');
    await page.keyboard.press('Enter');
    await path(page).fill('sub');
    await page.keyboard.press('Enter');
    await field(page, 'Next').selectOption('exit');
    await field(page, 'Name').fill('second');
    await page.keyboard.press('Enter');
    await page.getByText('When it fails or takes too long').click();
    await field(page, 'Timeout in milliseconds').fill('1234');
    await save(page);
    const text = studio.read();
    expect(text).toMatch(/id: second.*next: exit/);
    expect(text).toMatch(/path: sub/);
    expect(text).toContain('$.second.content');
    expect(text).toContain('timeoutMs: 1234');
    expect(text).not.toContain('first');
    await card(page, 'second').waitFor();
    expect(page.url()).toContain('node=second');
  });

  it('an answer takes nothing away from what is being typed', async () => {
    await field(page, 'Name').fill('renamed');
    await page.keyboard.press('Enter');
    await path(page).focus();
    const letters = 'one/two/three/four/five/six/seven';
    await page.keyboard.type(letters, { delay: 60 });
    await card(page, 'renamed').waitFor();
    await page.keyboard.type('/eight');
    expect(await path(page).inputValue()).toBe(`${letters}/eight`);
    await save(page);
    expect(studio.read()).toContain(`path: ${letters}/eight`);
    expect(studio.read()).toContain('id: renamed');
  });

  it('nodes are added and filled in without waiting', async () => {
    await page.keyboard.press('n');
    await page.getByRole('button', { name: /^Wait/ }).click();
    await field(page, 'How long').fill('250ms');
    await page.keyboard.press('Enter');
    await field(page, 'Name').fill('rest');
    await page.keyboard.press('Enter');
    await page.keyboard.press('n');
    await page.getByRole('button', { name: /^Question Asks/ }).click();
    await field(page, 'What is asked').fill('Shall it?');
    await save(page);
    const text = studio.read();
    expect(text).toMatch(/id: call[^\n]*next: rest/);
    expect(text).toMatch(/id: rest[\s\S]*250ms[\s\S]*next: ask/);
    expect(text).toMatch(/id: ask[\s\S]*Shall it\?[\s\S]*next: tally/);
  });

  it('the last change is taken back, also before it is there', async () => {
    await path(page).fill('kept');
    await page.keyboard.press('Enter');
    await field(page, 'Next').selectOption('exit');
    await page.locator('h2').first().click();
    await page.keyboard.press('ControlOrMeta+z');
    await save(page);
    expect(studio.read()).toContain('path: kept');
    expect(studio.read()).toMatch(/id: call[^\n]*next: tally/);
  });

  it('letters that are typed into the text stay, and the change of a form with them', async () => {
    await page.keyboard.press('y');
    await editor(page, 'Graph file').getByText('description: Counts').waitFor();
    await path(page).fill('sub');
    await page.keyboard.press('Enter');
    await editor(page, 'Graph file').getByText('description: Counts').click();
    await page.keyboard.press('End');
    await page.keyboard.type(' every single file', { delay: 40 });
    await save(page);
    expect(studio.read()).toContain('description: Counts every single file');
    expect(studio.read()).toMatch(/path: sub/);
  });
});

it('a workflow of the store is made without waiting', async () => {
  const { page, complaints } = await openPage(browser, `${studio.url}#/workflows`);
  await slowly(page, '**/api/workflows/draft', () => 600);
  await page.getByRole('button', { name: 'New workflow' }).click();
  await choose(page, 'start');
  await page.keyboard.press('n');
  await page.getByRole('button', { name: /^Hook/ }).click();
  await field(page, 'Name').fill('guard');
  await page.keyboard.press('Enter');
  await typeInto(page, 'Script, in JavaScript', 'return { context: { seen: 1 } };');
  await field(page, 'Timeout in milliseconds').fill('1500');
  await save(page);
  const kept = await studio.api<{ nodes: { id: string; [key: string]: unknown }[] }>(
    '/api/workflows/workflow',
  );
  expect(kept.nodes.map(({ id }) => id)).toEqual(['start', 'guard', 'call', 'end']);
  expect(JSON.stringify(kept.nodes)).toContain('seen: 1');
  expect(JSON.stringify(kept.nodes)).toContain('1500');
  await card(page, 'guard').waitFor();
  expect(complaints).toEqual([]);
});
