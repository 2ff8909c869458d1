import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, launch, openPage, Studio } from './world';

const SIZE = 50 * 1024 * 1024;

/** A tool that gives 50 MiB: a number with very many noughts before it. */
const HUGE = `server: { name: huge, version: "1" }
backend: { process: {} }
executionLimits: { maxPayloadBytes: 100000000, maxContextBytes: 1000000000 }
tools:
  - name: huge
    description: Gives 50 MiB
    inputSchema: { type: object }
    command: { argv: [printf, "%0${SIZE}d", "7"], output: text, max_output_bytes: 100000000 }
`;

let browser: Browser;
let studio: Studio;

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(HUGE, {}, ['--max-payload-bytes', '100000000']);
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

it('an output of 50 MiB is fetched when it is opened, and the page goes on', async () => {
  const { page, complaints } = await openPage(browser, studio.url);
  // The longest time in which the page did nothing for anybody.
  await page.evaluate(() => {
    const state = window as unknown as { longest: number };
    state.longest = 0;
    let last = performance.now();
    setInterval(() => {
      state.longest = Math.max(state.longest, performance.now() - last);
      last = performance.now();
    }, 20);
  });
  await card(page, 'command').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await card(page, 'command').getByText('done').waitFor({ timeout: 60_000 });
  await card(page, 'command').click();
  await page.getByText('It has 50.0 MiB; this is its beginning').waitFor({ timeout: 60_000 });
  for (const tab of ['Context', 'Diff', 'Node']) {
    await page.getByRole('tab', { name: tab }).click();
    await page.waitForTimeout(300);
  }
  const before = await page.evaluate(() => (window as unknown as { longest: number }).longest);
  console.log(`longest pause before it was opened: ${Math.round(before)} ms`);
  expect(before).toBeLessThan(1500);

  await page.getByRole('button', { name: 'Fetch all 50.0 MiB' }).click();
  await page.getByText(/Show more \(\d+ characters left\)/).waitFor({ timeout: 60_000 });
  await page.getByRole('tab', { name: 'Context' }).click();
  await page.getByRole('tab', { name: 'Node' }).waitFor();
  const after = await page.evaluate(() => (window as unknown as { longest: number }).longest);
  console.log(`longest pause while it was: ${Math.round(after)} ms`);
  expect(after).toBeLessThan(5000);
  expect(complaints).toEqual([]);
});
