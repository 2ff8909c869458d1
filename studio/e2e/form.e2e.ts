import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { choose, editor, launch, look, openPage, Studio, typeInto } from './world';

/** A tool that gives back what it was called with, where that fits. */
const ECHO = `server: { name: echo, version: "1.0.0" }
tools:
  - name: echo
    inputSchema:
      type: object
      required: [who]
      properties:
        who: { type: string, minLength: 2 }
        count: { type: integer, default: 3 }
        fixed: { const: thing }
        more: { type: object }
    nodes:
      - { id: entry, type: entry, next: echo }
      - { id: echo, type: transform, transform: { expr: $.entry }, next: exit }
      - { id: exit, type: exit }
`;

let browser: Browser;
let studio: Studio;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(ECHO);
  ({ page, complaints } = await openPage(browser, studio.url));
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

const toolbar = () => page.getByRole('toolbar', { name: 'Graph and run' });
const who = () => page.getByRole('textbox', { name: /^who/ });
const runs = async () => (await studio.api<{ runs: { id: string }[] }>('/api/runs')).runs;

it('what is missing is said where it is filled in', async () => {
  await choose(page, 'echo');
  await page.getByRole('tab', { name: 'Node' }).click();
  await toolbar().getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('This is required.').waitFor();
  await expect.poll(() => who().evaluate((field) => field === document.activeElement)).toBe(true);
  await look(page, 'form-missing', 'light');
  expect(await runs()).toEqual([]);
});

it('what was typed stays, whatever is shown meanwhile', async () => {
  await who().fill('Ada');
  await page.getByRole('textbox', { name: /^more/ }).fill('{"a": ');
  await page.getByRole('tab', { name: 'Tool' }).click();
  await typeInto(page, 'Schema of the arguments', '{ "type": ');
  await page.locator('.callout.bad').waitFor();
  await page.getByRole('tab', { name: 'Run' }).click();
  expect(await who().inputValue()).toBe('Ada');
  expect(await page.getByRole('textbox', { name: /^more/ }).inputValue()).toBe('{"a": ');
  await page.getByRole('tab', { name: 'Tool' }).click();
  await page.locator('.callout.bad').waitFor();
  expect(await editor(page, 'Schema of the arguments').textContent()).toContain('{ "type": ');
  await page.getByRole('tab', { name: 'Run' }).click();
});

it('what cannot be read is not replaced by what was there before', async () => {
  await page.getByRole('button', { name: 'Run', exact: true }).last().click();
  await page.getByText('Nothing was run: more').waitFor();
  await page.getByRole('textbox', { name: /^more/ }).fill('');
  const count = page.getByRole('textbox', { name: /^count/ });
  await count.fill('4x');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing was run: count').waitFor();
  expect(await runs()).toEqual([]);
  await count.fill('4');
});

it('the toolbar runs what the form says, and a refusal tells why', async () => {
  await toolbar().getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('The run gave its result').waitFor();
  await page.getByLabel('Result, value').getByText('"Ada"').waitFor();
  await page.getByLabel('Result, value').getByText('"thing"').waitFor();
  await page.keyboard.press('Escape');

  await who().fill('B');
  await page.getByRole('heading', { name: 'Arguments' }).click();
  await page.keyboard.press('r');
  await page.getByText('The run failed').waitFor();
  await page.locator('.callout.bad').getByText(/MG\d+/).waitFor();
  await page.getByText('Nothing has happened yet').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
});

it('a file with errors is neither saved nor run', async () => {
  await page.keyboard.press('y');
  await typeInto(page, 'Graph file', ECHO.replace('next: exit }', 'next: nowhere }'));
  await page.getByText('it cannot be saved, and so not be run').waitFor();
  expect(await page.getByRole('button', { name: 'Save and run' }).isDisabled()).toBe(true);
  expect(await toolbar().getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
  expect(await runs()).toHaveLength(2);
  expect(complaints).toEqual([]);
});
