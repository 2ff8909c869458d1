import type { Browser } from 'playwright-core';
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
} from './world';

const GRAPH = `server: { name: desk, version: "1.0.0" }
sops: [order-desk.md]
mcpServers:
  shop:
    command: "\${MCPGRAPH_BIN}"
    args: [demo-server, --root, "\${GRAPH_DIR}/data"]
    expose: { prefix: none }
tools: []
`;

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

describe.each<Theme>(['light', 'dark'])('in the %s theme', (theme) => {
  it('a procedure is walked, and seen live and afterwards', async () => {
    const studio = await Studio.start(GRAPH, { 'order-desk.md': example('order-desk.md') });
    const { page, complaints } = await openPage(browser, `${studio.url}#/procedures`, theme);
    await page.getByRole('cell').getByRole('button', { name: 'order_desk' }).waitFor();
    await look(page, 'procedures', theme);
    await page.getByRole('cell').getByRole('button', { name: 'order_desk' }).click();
    await choose(page, 'CHECK');
    await page.getByText('Ask for the number of the order').waitFor();
    await look(page, 'procedure', theme);

    const agent = await Client.connect(studio);
    await agent.call('load_graph', { sop_file: 'order_desk' });
    await agent.call('todo', {
      todos: [
        { content: 'Find the order', status: 'in_progress' },
        { content: 'Cancel it', status: 'pending', completion_node: 'DONE' },
      ],
    });
    await page.getByRole('region', { name: 'Recent walks' }).getByRole('button').first().click();
    const todos = page.getByRole('region', { name: 'Todos' });
    await todos.getByText('Find the order').waitFor();
    await page.getByText('The walk has not begun').waitFor();

    // The page follows the agent.
    await agent.call('goto_node', { node_id: 'START' });
    await card(page, 'START').getByText('here').waitFor();
    await card(page, 'ROUTE').getByText('can follow').waitFor();
    await agent.call('goto_node', { node_id: 'ROUTE' });
    await agent.call('goto_node', { node_id: 'CHECK' });
    await card(page, 'CHECK').getByText('here').waitFor();
    await card(page, 'START').getByText('walked').waitFor();
    await page.getByRole('group').or(page.getByRole('tabpanel')).first().waitFor();
    await page.getByText('Ask for the number of the order').waitFor();
    const refused = await agent.call('goto_node', { node_id: 'DONE' });
    expect(JSON.stringify(refused)).toContain('valid');
    const { content } = await agent.call('list_orders', {}).catch(() => ({ content: [] }));
    expect(JSON.stringify(content)).not.toContain('"A1"');
    await agent.call('get_order', { id: 'A1' });
    await agent.call('goto_node', { node_id: 'IS_PENDING' });
    await card(page, 'IS_PENDING').getByText('here').waitFor();
    await agent.call('todo', { todos: [{ content: 'Find the order', status: 'completed' }] });
    await todos.getByText('1 of 1').waitFor();
    await look(page, 'walk', theme);
    await page.getByRole('tab', { name: 'Walk' }).click();
    await page.getByText('The walked path').waitFor();
    await look(page, 'walk-path', theme);

    // And goes back to where it was.
    await page.getByRole('tab', { name: 'Node' }).click();
    await page.getByLabel('Step of the run').focus();
    await page.keyboard.press('Home');
    await page.getByText('Viewing step 0').waitFor();
    await todos.getByText('Cancel it').waitFor();
    await card(page, 'CHECK').getByText('not reached').waitFor();
    await look(page, 'walk-past', theme);
    await page.keyboard.press('End');
    await todos.getByText('1 of 1').waitFor();
    expect(complaints).toEqual([]);
    await studio.stop();
  });

  it('a tool that is one command is seen like any other', async () => {
    const text = `server: { name: s, version: "1" }
backend: { process: {} }
tools:
  - name: say
    description: Says something
    inputSchema: { type: object, properties: { word: { type: string } }, required: [word] }
    command: { argv: [echo, "{word}"] }
`;
    const studio = await Studio.start(text);
    const { page, complaints } = await openPage(browser, studio.url, theme);
    await choose(page, 'command');
    await page.getByText('The arguments of the tool fill the placeholders').waitFor();
    await editor(page, 'Command').waitFor();
    await look(page, 'command', theme);
    await page.getByRole('tab', { name: 'Run' }).click();
    await page.getByRole('textbox', { name: /^word/ }).fill('hello');
    await page.getByRole('button', { name: 'Run', exact: true }).last().click();
    await card(page, 'command').getByText('done').waitFor();
    await page.getByLabel('Result, value').getByText('hello').waitFor();
    await look(page, 'command-run', theme);
    expect(complaints).toEqual([]);
    await studio.stop();
  });
});
