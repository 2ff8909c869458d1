import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { example, launch, openPage, Studio } from './world';

/** The example that adds numbers, resting at each: it takes longer than the test anywhere. */
const PATIENT = `backend: { process: {} }
${example('loops.yaml').replace(
  'next: check_condition\n',
  `next: rest

      - id: rest
        type: command
        command: { argv: [sleep, "0.01"] }
        next: check_condition
`,
)}`;

let browser: Browser;
let studio: Studio;

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(PATIENT);
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

it('a server that dies in the middle of a run loses and doubles nothing', async () => {
  const { page } = await openPage(browser, `${studio.url}#/graph/sum_to_n`);
  await page.getByRole('textbox', { name: /^n\b/ }).fill('20000');
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await page.getByText('live', { exact: true }).waitFor();
  await page.waitForFunction(
    () => Number(document.querySelector('.timeline strong')?.textContent) > 50,
  );
  await studio.kill();
  await page.getByText('reconnecting').waitFor();
  await studio.begin();
  await page.getByText('interrupted', { exact: true }).first().waitFor();

  const { runs } = await studio.api<{ runs: { id: string; steps: number; events: number }[] }>(
    '/api/runs',
  );
  const run = runs[0];
  expect(run).toBeDefined();
  const last = () => page.locator('.timeline .row > span').first().textContent();
  await expect
    .poll(last, { timeout: 30_000 })
    .toBe(`Step ${(run?.steps ?? 0) - 1} (${run?.steps} of ${run?.steps})`);
  const { events } = await studio.api<{ events: { seq: number }[] }>(
    `/api/runs/${run?.id}/events?limit=10000`,
  );
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index));
});
