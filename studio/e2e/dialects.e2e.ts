import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { choose, launch, openPage, Studio, still } from './world';

/** A loop whose switch says where it leads with `next`. */
const LOOP = `server: { name: loop, version: "1.0.0" }
tools:
  - name: loop
    inputSchema: { type: object, properties: { n: { type: integer, default: 3 } } }
    nodes:
      - { id: entry, type: entry, next: inc }
      - { id: inc, type: transform, transform: { expr: '$executionCount("inc") + 1' }, next: more }
      - id: more
        type: switch
        conditions:
          - { rule: { "<": [{ var: $.inc }, { var: $.entry.n }] }, next: inc }
        next: last
      - { id: last, type: transform, transform: { expr: $.inc }, next: exit }
      - { id: exit, type: exit }
`;

let browser: Browser;
let studio: Studio;

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(LOOP);
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

it('a switch that is written with next is read and changed as it is written', async () => {
  const { page, complaints } = await openPage(browser, studio.url);
  await choose(page, 'more');
  expect(await page.getByLabel('Otherwise').inputValue()).toBe('last');
  expect(await page.getByLabel('goes to').inputValue()).toBe('inc');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await expect.poll(() => page.getByLabel('goes to').count()).toBe(2);
  expect(await page.getByLabel('goes to').nth(1).inputValue()).toBe('last');
  await page.getByLabel('goes to').nth(1).selectOption('exit');
  await page.getByLabel('Otherwise').selectOption('exit');
  await still(page);
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  const text = studio.read();
  expect(text).not.toContain('target');
  expect(text).toMatch(/rule"?: false, "?next"?: "?exit/);
  // A rule that nobody has filled in changes nothing of what a run does.
  await page.getByRole('tab', { name: 'Run' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await page.getByText('The run gave its result').waitFor();
  await page.getByLabel('Result, value').getByText('3', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});
