import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, choose, example, launch, look, openPage, Studio, typeInto } from './world';

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

it('a node is added with the keyboard alone', async () => {
  const { page, complaints } = await openPage(browser, `${studio.url}#/graph/sum_to_n`);
  await choose(page, 'result');
  await page.keyboard.press('n');
  await page.locator('dialog[open]').waitFor();
  await page.keyboard.type('wai');
  await page.keyboard.press('Enter');
  await card(page, 'wait').waitFor();
  await page.keyboard.press('n');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await card(page, 'call').waitFor();
  // A call of nothing is not saved by accident, and the error leads to its place.
  await page.getByRole('button', { name: /^\d errors?$/ }).click();
  const problem = page.getByRole('list', { name: 'Problems' }).getByRole('button').first();
  await expect.poll(() => problem.evaluate((it) => it === document.activeElement)).toBe(true);
  await page.getByRole('button', { name: /sum_to_n.*has errors/ }).waitFor();
  await look(page, 'errors', 'light');
  expect(complaints).toEqual([]);
  await page.context().close();
});

it('a node is connected with no other than the one that is chosen', async () => {
  const { page } = await openPage(browser, `${studio.url}#/graph/sum_to_n`);
  await choose(page, 'result');
  await page.keyboard.press('c');
  const to = page.getByLabel('To', { exact: true });
  expect(await to.inputValue()).toBe('');
  expect(await to.locator('option').allTextContents()).not.toContain('result');
  const connect = page.getByRole('dialog').getByRole('button', { name: 'Connect', exact: true });
  expect(await connect.isDisabled()).toBe(true);
  await page.context().close();
});

it('a fork says what it would do, why it is refused, and begins without a word of the one before', async () => {
  const { page, complaints } = await openPage(browser, `${studio.url}#/graph/sum_to_n`);
  const missing: string[] = [];
  page.on('response', (answer) => answer.status() === 404 && missing.push(answer.url()));
  await page.getByRole('textbox', { name: /^n\b/ }).fill('3');
  await page.keyboard.press('Enter');
  await page.getByText('The run gave its result').waitFor();
  await page.keyboard.press('[');
  await page.getByText('Viewing step').waitFor();
  const asked: { changes?: object }[] = [];
  await page.route(/\/fork\/effects$/, (route) => {
    asked.push(route.request().postDataJSON());
    return route.continue();
  });
  await page.getByRole('button', { name: 'Edit output and fork' }).click();
  await page.getByText('Kept:').waitFor();
  await page.getByText('No upstream tool will be called').waitFor();
  await typeInto(page, 'Output of result', '{ "sum": 7 }');
  await expect.poll(() => asked.at(-1)?.changes).toEqual({ result: { sum: 7 } });

  const message = 'another output fits nothing here';
  const error = { code: 'invalid', message };
  await page.route(/\/fork$/, (route) => route.fulfill({ status: 422, json: { error } }));
  await page.getByRole('button', { name: 'Begin the new run' }).click();
  await page.getByRole('dialog').getByText(message).waitFor();
  expect(await page.locator('.notice').count()).toBe(0);
  await page.unroute(/\/fork$/);
  await page.getByRole('button', { name: 'Begin the new run' }).click();
  await page.getByText(/forked at step/).waitFor();
  await page.waitForTimeout(500);
  expect(missing).toEqual([]);
  expect(complaints).toEqual([]);
  await page.context().close();
});

it('a record is forgotten only by whoever means it, and words about it are seen above a dialog', async () => {
  const { page, complaints } = await openPage(browser, `${studio.url}#/runs`);
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  const before = await rows.count();
  await page
    .getByRole('button', { name: /^Forget the run/ })
    .first()
    .click();
  await look(page, 'forget', 'light');
  await page.getByRole('button', { name: 'Keep it' }).click();
  expect(await rows.count()).toBe(before);
  await page.route(/\/api\/runs\/[^/]+$/, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 409, json: { error: { code: 'busy', message: 'not just now' } } })
      : route.continue(),
  );
  const forget = async () => {
    await page
      .getByRole('button', { name: /^Forget the run/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget the run' }).click();
  };
  await forget();
  await page.locator('.notice.error').getByText('not just now').waitFor();
  await look(page, 'notice', 'light');
  await page.keyboard.press('?');
  await page.locator('dialog[open]').waitFor();
  const isOnTop = await page.locator('.notice.error').evaluate((notice) => {
    const { x, y, width, height } = notice.getBoundingClientRect();
    // What lies behind a modal dialog cannot be pressed, but is drawn above it.
    const top = document.querySelector('.notices')?.matches(':popover-open') === true;
    return top && x > 0 && y > 0 && width > 0 && height > 0;
  });
  expect(isOnTop).toBe(true);
  await page.keyboard.press('Escape');
  await page.unroute(/\/api\/runs\/[^/]+$/);
  await forget();
  await expect.poll(() => rows.count()).toBe(before - 1);
  expect(complaints).toEqual([]);
});
