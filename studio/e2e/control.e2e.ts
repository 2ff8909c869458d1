import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, launch, openPage, Studio } from './world';

/** A run that can be stepped through, with something behind each step that would be noticed. */
const STEPS = `server: { name: steps, version: "1.0.0" }
tools:
  - name: walk
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: one }
      - { id: one, type: transform, transform: { expr: '1' }, next: two }
      - { id: two, type: transform, transform: { expr: '2' }, next: three }
      - { id: three, type: transform, transform: { expr: '3' }, next: exit }
      - { id: exit, type: exit }
`;

let browser: Browser;
let studio: Studio;

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(STEPS);
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

it('a run that stands still is taken over by a page that was loaded again, and stays where it is', async () => {
  const { page, complaints } = await openPage(browser, studio.url);
  await card(page, 'one').waitFor();
  await page.keyboard.press('s');
  await page.getByText('paused', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('paused', { exact: true }).waitFor();
  await page.keyboard.press('s');
  await card(page, 'entry').getByText('done').waitFor();
  await card(page, 'one').getByText('paused here').waitFor();
  await page.keyboard.press('s');
  await card(page, 'one').getByText('done').waitFor();
  await card(page, 'three').getByText('not run').waitFor();

  await page.reload();
  await page.getByText('paused', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect
    .poll(async () => {
      const { runs } = await studio.api<{ runs: { status: string }[] }>('/api/runs');
      return runs[0]?.status;
    })
    .toBe('cancelled');
  await card(page, 'three').getByText('not run').waitFor();
  // What somebody ended did not fail.
  await page.getByText('The run was stopped').waitFor();
  await page.getByRole('toolbar').getByText('stopped', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});
