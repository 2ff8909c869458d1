import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { card, choose, example, launch, openPage, Studio } from './world';

let browser: Browser;
let studio: Studio;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
  studio = await Studio.start(example('loops.yaml'));
  ({ page, complaints } = await openPage(browser, `${studio.url}#/graph/sum_to_n`));
  await card(page, 'result').waitFor();
});

afterAll(async () => {
  await browser.close();
  await studio.stop();
});

it('a file that changes on disk is read again', async () => {
  studio.write(studio.read().replaceAll('result', 'outcome'));
  await card(page, 'outcome').waitFor();
  await page.getByText('was changed on disk and read again').waitFor();
});

it('two changes are shown beside each other, and neither is lost', async () => {
  await choose(page, 'outcome');
  await page.getByLabel('Name').fill('mine');
  await page.keyboard.press('Enter');
  await card(page, 'mine').waitFor();
  const theirs = studio.read().replace('Adds the numbers', 'Sums the numbers');
  studio.write(theirs);
  await page.getByRole('heading', { name: 'The file was changed on disk' }).waitFor();
  await page.getByText('Sums the numbers').first().waitFor();
  expect(studio.read()).toBe(theirs);
  await page.getByRole('button', { name: 'Keep mine, to be saved over it' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  expect(studio.read()).toContain('- id: mine');
  expect(studio.read()).toContain('# Each execution reads the one before it');
});

it('the text and the canvas follow each other', async () => {
  await page.keyboard.press('y');
  const editor = page.locator('[aria-label="Graph file"][contenteditable="true"]');
  await editor.getByText('- id: mine').waitFor();
  await choose(page, 'mine');
  await page.getByLabel('Name').fill('ours');
  await page.keyboard.press('Enter');
  await editor.getByText('- id: ours').waitFor();
  await editor.getByText('next: result').or(editor.getByText('type: entry')).first().click();
  await page.keyboard.press('End');
  await page.keyboard.insertText('x');
  await page.getByRole('list', { name: 'Problems' }).getByRole('button').first().waitFor();
  await page.keyboard.press('Backspace');
  await page.getByText('no problems').waitFor();
});

it('the browser had nothing to complain about', () => expect(complaints).toEqual([]));
