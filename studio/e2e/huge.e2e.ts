import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, choose, launch, openPage, Studio } from './world';

const SIZE = 50 * 1024 * 1024;

/** The most characters that may stand on the page at once. */
const DRAWN = 1024 * 1024;

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

/** The longest time in which the page did nothing for anybody; a figure to be read, not a limit. */
async function watchPauses(page: Page): Promise<() => Promise<string>> {
  await page.evaluate(() => {
    const state = window as unknown as { longest: number };
    state.longest = 0;
    let last = performance.now();
    setInterval(() => {
      state.longest = Math.max(state.longest, performance.now() - last);
      last = performance.now();
    }, 20);
  });
  return async () => {
    const longest = await page.evaluate(() => (window as unknown as { longest: number }).longest);
    return `${Math.round(longest)} ms`;
  };
}

/** How much of it all stands on the page: what makes a page slow is what it has to draw. */
const drawn = (page: Page) => page.evaluate(() => document.body.textContent?.length ?? 0);

it('an output of 50 MiB is fetched when it is opened, and the page goes on', async () => {
  const { page, complaints } = await openPage(browser, studio.url);
  const longest = await watchPauses(page);
  let fetched = 0;
  page.on('response', async (response) => {
    if (!response.url().includes('/api/')) return;
    fetched += Number(response.headers()['content-length'] ?? 0);
  });
  await card(page, 'command').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await card(page, 'command').getByText('done').waitFor({ timeout: 60_000 });
  await choose(page, 'command');
  const beginning = page.getByText('It has 50.0 MiB; this is its beginning');
  await beginning.waitFor({ timeout: 60_000 });
  await page.getByRole('tab', { name: 'Context' }).click();
  await page.getByRole('tabpanel').locator('.json').first().waitFor();
  await page.getByRole('tab', { name: 'Diff' }).click();
  await page.locator('.diff-frame .cm-content').first().waitFor();
  await page.getByRole('tab', { name: 'Node' }).click();
  await beginning.waitFor();
  console.log(`longest pause before it was opened: ${await longest()}`);
  expect(fetched).toBeLessThan(SIZE / 10);
  expect(await drawn(page)).toBeLessThan(DRAWN);

  await page.getByRole('button', { name: 'Fetch all 50.0 MiB' }).click();
  await page.getByText(/Show more \(\d+ characters left\)/).waitFor({ timeout: 60_000 });
  expect(await drawn(page)).toBeLessThan(DRAWN);
  await page.getByRole('tab', { name: 'Context' }).click();
  await page.getByRole('tab', { name: 'Node' }).waitFor();
  console.log(`longest pause while it was: ${await longest()}`);
  expect(complaints).toEqual([]);
});
