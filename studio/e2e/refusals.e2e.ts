import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, choose, example, launch, openPage, Studio } from './world';

/** A run that is under way for long. */
const WAITING = `server: { name: waiting, version: "1.0.0" }
tools:
  - name: wait
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: long }
      - { id: long, type: wait, duration: 200 s, next: exit }
      - { id: exit, type: exit }
`;

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

it('a node is not given the name of another', async () => {
  const studio = await Studio.start(example('loops.yaml'));
  const { page, complaints } = await openPage(browser, `${studio.url}#/graph/sum_to_n`);
  await choose(page, 'result');
  const cards = await page.locator('.react-flow__node').count();
  const name = page.getByLabel('Name');
  await name.fill('entry_sum');
  await page.getByText('There is a node entry_sum already.').waitFor();
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  await page.keyboard.press('Enter');
  await card(page, 'result').waitFor();
  expect(await page.locator('.react-flow__node').count()).toBe(cards);
  await page.getByRole('button', { name: 'Saved' }).waitFor();

  await name.fill('outcome');
  await page.keyboard.press('Enter');
  await card(page, 'outcome').waitFor();
  expect(complaints).toEqual([]);
  await studio.stop();
});

it('what cannot be done with a run is told, and a run that survives its process is stopped', async () => {
  const studio = await Studio.start(WAITING);
  const { page, complaints } = await openPage(browser, studio.url);
  await card(page, 'long').waitFor();
  await page.keyboard.press('r');
  await card(page, 'long').getByText('running').waitFor();
  await page
    .getByRole('toolbar', { name: 'Graph and run' })
    .getByText('running', { exact: true })
    .waitFor();

  // The server refuses as it does for a durable run.
  const error = { code: 'durable', message: 'a durable run cannot be debugged' };
  await page.route(/\/api\/runs\/[^/]+\/debug/, (route) =>
    route.fulfill({ status: 409, json: { error } }),
  );
  let stopped = 0;
  await page.route(/\/api\/runs\/[^/]+\/stop$/, (route) => {
    stopped += 1;
    return route.fulfill({ status: 202, json: {} });
  });
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('durable: it cannot be paused').waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
  expect(await page.getByText(error.message).count()).toBe(0);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => stopped).toBe(1);
  expect(complaints).toEqual([]);
  await studio.stop();
});
