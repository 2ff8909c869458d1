import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, example, launch, openPage, Studio } from './world';

let browser: Browser;
let studio: Studio;

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(example('loops.yaml'));
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

it('a link to what is not there says so', async () => {
  const { page, complaints } = await openPage(browser, `${studio.url}#/graph/nothing_like_it`);
  await page.getByText('There is no tool nothing_like_it').waitFor();
  expect(await page.title()).toBe('nothing_like_it – mcpgraph studio');
  await page.goto(`${studio.url}#/graph/sum_to_n/01ARZ3NDEKTSV4RRFFQ69G5FAV`);
  await page.getByText('There is no such run').waitFor();
  await page.getByText('no such run', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
  expect(await page.title()).toBe('sum_to_n – mcpgraph studio');
  await page.getByRole('button', { name: 'Runs', exact: true }).click();
  await expect.poll(() => page.title()).toBe('Runs – mcpgraph studio');
  expect(complaints).toEqual([]);
});

it('what is copied is told', async () => {
  const { page } = await openPage(browser, `${studio.url}#/graph/sum_to_n`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('textbox', { name: /^n\b/ }).fill('3');
  await page.keyboard.press('Enter');
  await page.getByText('The run gave its result').waitFor();
  await card(page, 'result').waitFor();
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('"n": 3');
  await page.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' });
});
