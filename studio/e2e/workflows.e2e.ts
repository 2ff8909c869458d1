import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Client,
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

const SHOP = `server: { name: shop, version: "1.0.0" }
mcpServers:
  shop:
    command: "\${MCPGRAPH_BIN}"
    args: [demo-server, --root, "\${GRAPH_DIR}/data"]
    expose: true
tools: []
`;

const GUARD = `if (context.request.params.arguments.status === 'cancelled') {
  console.warn('refused', context.request.params.arguments.id);
  return { continue: false, error: { code: 'ASK', message: 'people cancel orders' } };
}`;

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

describe('a workflow of the store', () => {
  let studio: Studio;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    studio = await Studio.start(SHOP);
    ({ page, complaints } = await openPage(browser, `${studio.url}#/workflows`));
  });

  afterAll(() => studio.stop());

  it('is made by hand, with a hook that blocks', async () => {
    await page.getByRole('button', { name: 'New workflow' }).click();
    await choose(page, 'start');
    await page.keyboard.press('n');
    await page.getByRole('button', { name: /^Hook/ }).click();
    await card(page, 'hook').waitFor();
    await page.getByLabel('Name').fill('guard');
    await page.keyboard.press('Enter');
    await card(page, 'guard').waitFor();

    // A script that cannot be read is marked where it cannot.
    await typeInto(page, 'Script, in JavaScript', 'const a = 1;\nreturn {');
    await page.getByText('MG0557').first().waitFor();
    await card(page, 'guard').getByText('has errors').waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await typeInto(page, 'Script, in JavaScript', GUARD);
    await card(page, 'guard').getByText('has errors').waitFor({ state: 'hidden' });

    await page.getByRole('tab', { name: 'Workflow' }).click();
    await page.getByLabel('Tool', { exact: true }).fill('set_order_status');
    await page.keyboard.press('Enter');
    await page.getByLabel('Priority').fill('10');
    await page.keyboard.press('Enter');
    await page.getByLabel('In use once it is saved').check();
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    const kept = await studio.api<{ nodes: { id: string }[]; match: object; priority: number }>(
      '/api/workflows/workflow',
    );
    expect(kept.nodes.map((node) => node.id)).toEqual(['start', 'guard', 'call', 'end']);
    expect(kept.match).toEqual({ tool: 'set_order_status' });
    expect(kept.priority).toBe(10);
  });

  it('blocks the call that it is put around, and is seen doing so', async () => {
    const client = await Client.connect(studio);
    const tool = 'shop__set_order_status';
    const refused = await client.call(tool, { id: 'A1', status: 'cancelled' });
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain('people cancel orders');

    await page.getByRole('region', { name: 'Recent runs' }).getByRole('button').first().click();
    await card(page, 'guard').getByText('failed').waitFor();
    await card(page, 'call').getByText('not run').waitFor();
    await choose(page, 'guard');
    await page.getByText('people cancel orders').first().waitFor();
    await page.getByRole('region', { name: 'Log' }).getByText('refused').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Workflow' }).waitFor();
  });

  it('is disabled and lets calls pass then', async () => {
    await page.getByRole('button', { name: 'Workflows', exact: true }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    const client = await Client.connect(studio);
    const passed = await client.call('shop__list_orders', {});
    expect(passed.isError ?? false).toBe(false);
  });

  it('is changed on the canvas, and changes are taken back', async () => {
    await page.getByRole('cell').getByRole('button', { name: 'workflow', exact: true }).click();
    const edges = page.locator('.react-flow__edge');
    await card(page, 'call').waitFor();
    await expect.poll(() => edges.count()).toBe(3);
    await choose(page, 'start');
    await page.keyboard.press('c');
    await page.getByLabel('To', { exact: true }).selectOption('call');
    await page.getByRole('button', { name: 'Connect', exact: true }).last().click();
    await expect.poll(() => edges.count()).toBe(4);
    await choose(page, 'guard');
    await page.keyboard.press('Delete');
    await card(page, 'guard').waitFor({ state: 'detached' });
    await page.keyboard.press('ControlOrMeta+z');
    await card(page, 'guard').waitFor();
    await page.keyboard.press('ControlOrMeta+z');
    await expect.poll(() => edges.count()).toBe(3);
    await page.keyboard.press('ControlOrMeta+Shift+z');
    await expect.poll(() => edges.count()).toBe(4);
    await page.keyboard.press('ControlOrMeta+z');
    await page.getByRole('button', { name: 'Saved' }).waitFor();
  });

  it('the browser had nothing to complain about', () => expect(complaints).toEqual([]));
});

describe.each<Theme>(['light', 'dark'])('a module, in the %s theme', (theme) => {
  it('is made, used, kept as long as it is, and removed', async () => {
    const studio = await Studio.start(SHOP);
    const { page, complaints } = await openPage(browser, `${studio.url}#/workflows`, theme);
    await page.getByRole('button', { name: 'New workflow' }).click();
    await choose(page, 'start');
    await page.keyboard.press('n');
    await page.getByRole('button', { name: /^Hook/ }).click();
    await card(page, 'hook').waitFor();
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('button', { name: 'Saved' }).waitFor();

    await page.getByRole('button', { name: 'Workflows', exact: true }).click();
    await page.getByRole('button', { name: 'New module' }).click();
    const script = 'Script of the module, in JavaScript';
    await typeInto(page, script, 'const a = 1;\nreturn {');
    await page.getByText('MG0557').first().waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await look(page, 'module-broken', theme);
    await typeInto(page, script, GUARD);
    await page.getByText('MG0557').waitFor({ state: 'detached' });
    await page.getByLabel('Name').fill('guard');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    expect(page.url()).toContain('#/modules/guard');
    await look(page, 'module', theme);

    await page.getByRole('region', { name: 'Workflows' }).getByRole('button').first().click();
    await choose(page, 'hook');
    await page.getByLabel('Code').selectOption('guard');
    await page.getByRole('button', { name: 'Open the module' }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    await page.getByRole('button', { name: 'Open the module' }).click();
    await page
      .getByRole('region', { name: 'Used by' })
      .getByRole('button', { name: 'workflow' })
      .waitFor();
    await page.getByRole('button', { name: 'Remove the module' }).click();
    await page.getByRole('alert').getByText('is used by workflow').waitFor();
    await look(page, 'module-used', theme);

    // Somebody else changes it: nothing is overwritten.
    await fetch(new URL('api/hook-modules/guard', studio.url), {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'guard', script: 'return { theirs: 1 };' }),
    });
    await typeInto(page, script, 'return { mine: 1 };');
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('heading', { name: 'The module was changed in the store' }).waitFor();
    await page.getByText('theirs: 1').first().waitFor();
    await page.getByRole('button', { name: 'Keep mine, to be saved over it' }).click();
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('button', { name: 'Saved' }).waitFor();

    await page.getByRole('button', { name: 'Workflows', exact: true }).click();
    await page.getByRole('cell').getByRole('button', { name: 'guard' }).waitFor();
    await look(page, 'modules', theme);
    await page.getByRole('button', { name: 'Remove workflow' }).click();
    await page.goto(`${studio.url}#/modules/guard`);
    await page.getByRole('button', { name: 'Remove the module' }).click();
    await page.getByText('Removed guard from the store').waitFor();
    const { hookModules } = await studio.api<{ hookModules: [] }>('/api/hook-modules');
    expect(hookModules).toEqual([]);
    expect(complaints).toEqual([]);
    await studio.stop();
  });
});

it('a workflow of the file is changed in its text', async () => {
  const studio = await Studio.start(example('workflows.yaml'));
  const { page, complaints } = await openPage(browser, `${studio.url}#/workflows/no_names`);
  await choose(page, 'mask');
  await page.getByLabel('Name', { exact: true }).fill('hide');
  await page.keyboard.press('Enter');
  await card(page, 'hide').waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  expect(studio.read()).toContain('- id: hide');
  expect(studio.read()).toContain('# A script that several hooks use');
  expect(complaints).toEqual([]);
  await studio.stop();
});

describe.each<Theme>(['light', 'dark'])('in the %s theme', (theme) => {
  it('workflows are seen without barriers', async () => {
    const studio = await Studio.start(example('workflows.yaml'));
    const { page, complaints } = await openPage(browser, `${studio.url}#/workflows`, theme);
    await page.getByRole('cell').getByRole('button', { name: 'audit' }).waitFor();
    await look(page, 'workflows', theme);
    await page.getByRole('cell').getByRole('button', { name: 'finished_orders' }).click();
    await card(page, 'refuse').waitFor();
    await look(page, 'workflow', theme);
    await page.getByRole('region', { name: 'Workflows' }).getByText('no_names').click();
    await choose(page, 'mask');
    await page.getByLabel('Timeout in milliseconds').waitFor();
    await look(page, 'hook', theme);
    await page.keyboard.press('y');
    await editor(page, 'Graph file').waitFor();
    await look(page, 'workflow-text', theme);
    await page.keyboard.press('y');
    await page.getByRole('button', { name: 'List' }).click();
    await look(page, 'workflow-list', theme);
    await page.getByRole('button', { name: 'Canvas' }).click();

    const client = await Client.connect(studio);
    await client.call('shop__get_order', { id: 'A1' }).catch(() => null);
    await page.getByRole('region', { name: 'Recent runs' }).getByRole('button').first().click();
    await card(page, 'mask')
      .getByText(/done|failed/)
      .waitFor();
    await look(page, 'workflow-run', theme);
    expect(complaints).toEqual([]);
    await studio.stop();
  });
});
