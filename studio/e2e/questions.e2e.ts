import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, card, choose, launch, look, openPage, Studio, type Theme } from './world';

const graph = readFileSync(
  fileURLToPath(new URL('../../crates/mcpgraph/tests/cli/graphs/asking.yaml', import.meta.url)),
  'utf8',
);

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

describe.each<Theme>(['light', 'dark'])('in the %s theme', (theme) => {
  it('what a run asks is answered by a person, and the run goes on', async () => {
    const studio = await Studio.start(graph);
    const { page, complaints } = await openPage(browser, `${studio.url}#/questions`, theme);
    await page.getByText('Nothing waits for an answer').waitFor();
    await look(page, 'no-questions', theme);

    const client = await Client.connect(studio);
    const asked = await client.call('send', { to: 'Ada' });
    const handle = asked.structuredContent?.handle as string;
    const question = page.getByRole('article', { name: 'send: Send to Ada?' });
    await question.waitFor();
    await look(page, 'questions', theme);

    // What does not fit is told, and the question waits on.
    const copies = question.getByLabel('copies');
    await copies.fill('0');
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.getByRole('alert').getByText('does not fit').waitFor();
    await look(page, 'questions-refused', theme);
    await copies.fill('2');
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.waitFor({ state: 'detached' });

    const sure = page.getByRole('article', { name: 'send: Are you sure?' });
    await sure.getByRole('button', { name: 'Answer' }).click();
    await sure.waitFor({ state: 'detached' });
    const done = await client.call('continue_run', { handle });
    expect(done.content[0]?.text).toBe('sent 2 to Ada');

    // Another is declined, and its run is looked at.
    await client.call('send', { to: 'Bob' });
    const other = page.getByRole('article', { name: 'send: Send to Bob?' });
    await other.getByRole('button', { name: 'Open the run' }).click();
    await card(page, 'approve').getByText('Send to').waitFor();
    await card(page, 'approve').getByText('waits for an answer').waitFor();
    await page.getByRole('button', { name: 'Questions 1' }).waitFor();
    await choose(page, 'approve');
    await page.getByRole('button', { name: 'Answer it' }).waitFor();
    await look(page, 'run-asks', theme);
    await page.getByRole('button', { name: 'waits for an answer' }).click();
    await other.getByRole('button', { name: 'Decline' }).click();
    await other.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await studio.stop();
  });
});
