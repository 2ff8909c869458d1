import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, card, example, launch, look, openPage, Studio, type Theme } from './world';

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

describe.each<Theme>(['light', 'dark'])('in the %s theme', (theme) => {
  it('what clients ask for is seen as it comes, narrowed down, and followed to its run', async () => {
    const text = example('orders.yaml').replace(
      'mcpServers:\n  shop:\n',
      (found) => `${found}    expose: true\n`,
    );
    const studio = await Studio.start(text);
    const { page, complaints } = await openPage(browser, `${studio.url}#/requests`, theme);
    await page.getByText('No requests yet').waitFor();
    await look(page, 'no-requests', theme);

    const client = await Client.connect(studio, 'auditor');
    await client.listTools();
    await client.call('review_orders', {});
    await client.call('no_such_tool', {}).catch(() => null);
    await client.call('shop__get_order', { id: 'nobody' }).catch(() => null);
    const rows = page.getByRole('row');
    await rows.filter({ hasText: 'review_orders' }).getByText('answered').waitFor();
    await rows.filter({ hasText: 'no_such_tool' }).getByText('refused').waitFor();
    await rows.filter({ hasText: 'tools/list' }).getByText('auditor').waitFor();
    await look(page, 'requests', theme);

    await page.getByLabel('Status').selectOption('error');
    await rows.filter({ hasText: 'review_orders' }).waitFor({ state: 'detached' });
    await rows.filter({ hasText: 'no_such_tool' }).waitFor();
    expect(page.url()).toContain('status=error');
    await page.getByLabel('Server').fill('nowhere');
    await page.getByText('No request fits').waitFor();
    await look(page, 'requests-none', theme);
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByLabel('Method').selectOption('tools/call');
    await rows.filter({ hasText: 'tools/list' }).waitFor({ state: 'detached' });
    await page.getByLabel('Tool, with * for any text').fill('review_*');
    await rows.filter({ hasText: 'no_such_tool' }).waitFor({ state: 'detached' });

    // The filters are a part of the address, and a row leads to the run that it became.
    await page.reload();
    await rows.filter({ hasText: 'review_orders' }).waitFor();
    expect(await rows.filter({ hasText: 'tools/list' }).count()).toBe(0);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByText('The run gave its result').waitFor();
    await card(page, 'pending').getByText('done').waitFor();
    expect(complaints).toEqual([]);
    await studio.stop();
  });
});
