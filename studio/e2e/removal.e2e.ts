import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, choose, example, launch, openPage, Studio } from './world';

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

it('a key removes the node only where it is meant for the graph', async () => {
  const studio = await Studio.start(example('loops.yaml'));
  const { page, complaints } = await openPage(browser, `${studio.url}#/graph/sum_to_n`);
  await choose(page, 'result');
  const cards = await page.locator('.react-flow__node').count();
  await page.keyboard.press('?');
  await page.locator('dialog[open]').waitFor();
  await page.keyboard.press('Delete');
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Breakpoints' }).focus();
  await page.keyboard.press('Delete');
  await page.keyboard.press('Backspace');
  await page.waitForTimeout(500);
  expect(await page.locator('.react-flow__node').count()).toBe(cards);
  await page.getByRole('button', { name: 'Saved' }).waitFor();

  await choose(page, 'result');
  await page.keyboard.press('Delete');
  await card(page, 'result').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.className ?? '');
  await expect.poll(focused).toContain('canvas');
  // The keys are where they were, so that the next one is for the graph.
  await page.keyboard.press('ControlOrMeta+z');
  await card(page, 'result').waitFor();
  await choose(page, 'result');
  await page.getByLabel('Name').fill('outcome');
  await page.keyboard.press('Enter');
  await card(page, 'outcome').waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('tabpanel');
  await page.getByRole('button', { name: 'Remove outcome' }).click();
  await card(page, 'outcome').waitFor({ state: 'detached' });
  await expect.poll(focused).toContain('canvas');
  expect(complaints).toEqual([]);
  await studio.stop();
});
