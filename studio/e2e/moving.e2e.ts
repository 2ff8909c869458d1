import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { card, choose, example, launch, look, openPage, Studio, type Theme } from './world';

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

/** Where a card is, once the graph has been fitted into its place. */
async function resting(page: Page, id: string) {
  for (let last = ''; ; ) {
    const box = await card(page, id).boundingBox();
    if (box && JSON.stringify(box) === last) return box;
    last = JSON.stringify(box);
    await page.waitForTimeout(150);
  }
}

/** Takes a card with the mouse and puts it elsewhere. */
async function drag(page: Page, id: string, dx: number, dy: number) {
  const box = await resting(page, id);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2, { steps: 4 });
  await page.mouse.move(x + dx, y + dy, { steps: 4 });
  await page.mouse.up();
}

/** Presses keys as quickly as fingers do, however long the way to the browser takes. */
async function pressQuickly(page: Page, keys: string[]) {
  await page.evaluate(async (pressed) => {
    for (const name of pressed) {
      const key = name.replace('Shift+', '');
      const init = { key, shiftKey: key !== name, bubbles: true, cancelable: true };
      document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', init));
      await new Promise((next) => setTimeout(next));
    }
  }, keys);
}

const left = async (page: Page, id: string) => (await card(page, id).boundingBox())?.x ?? 0;

describe.each<Theme>(['light', 'dark'])('in the %s theme', (theme) => {
  it('a node of a tool stays where it is put', async () => {
    const studio = await Studio.start(example('loops.yaml'));
    const { page, complaints } = await openPage(browser, `${studio.url}#/graph/sum_to_n`, theme);
    await card(page, 'result').waitFor();
    const before = (await resting(page, 'result')).x;

    await drag(page, 'result', 260, 40);
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    await expect.poll(() => left(page, 'result')).toBeGreaterThan(before + 100);
    await choose(page, 'result');
    await page.getByText(/^by hand,/).waitFor();
    await look(page, 'moved', theme);
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    const saved = studio.read();
    expect(saved).toMatch(/position:/);
    expect(saved).toContain('# Each execution reads the one before it');

    // By keyboard: the card has the focus, and the arrow keys move it.
    const place = () => page.getByText(/^by hand,/).textContent();
    const first = await place();
    await card(page, 'result').focus();
    await pressQuickly(page, ['ArrowRight', 'ArrowRight', 'Shift+ArrowDown']);
    const [x, y] = (first ?? '').match(/-?\d+/g)?.map(Number) ?? [];
    await expect.poll(place).toBe(`by hand, ${(x ?? 0) + 20}, ${(y ?? 0) + 40}`);
    // Several keys are one change.
    await page.keyboard.press('ControlOrMeta+z');
    await expect.poll(place).toBe(first);

    await page.getByRole('button', { name: 'Leave it to the layout' }).click();
    await page.getByText(/^by hand,/).waitFor({ state: 'detached' });
    await expect.poll(() => left(page, 'result')).toBeLessThan(before + 60);
    await page.keyboard.press('ControlOrMeta+z');
    await page.getByText(/^by hand,/).waitFor();
    await page.getByRole('button', { name: 'Lay out all nodes anew' }).click();
    await page.getByText(/^by hand,/).waitFor({ state: 'detached' });
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    expect(studio.read()).toBe(example('loops.yaml'));
    expect(complaints).toEqual([]);
    await studio.stop();
  });
});

it('a workflow of the store keeps the places of all nodes, as its editors do', async () => {
  const studio = await Studio.start('server: { name: s, version: "1" }\ntools: []\n');
  const { page, complaints } = await openPage(browser, `${studio.url}#/workflows`);
  await page.getByLabel('New workflow from a template').selectOption('redact');
  await card(page, 'mask').waitFor();
  await drag(page, 'mask', 300, 0);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  const kept = await studio.api<{ nodes: { id: string; position: { x: number; y: number } }[] }>(
    '/api/workflows/redact',
  );
  const at = new Map(kept.nodes.map(({ id, position }) => [id, position]));
  expect(at.get('mask')?.x).toBeGreaterThan((at.get('start')?.x ?? 0) + 200);
  expect(at.get('end')?.y).toBeGreaterThan(at.get('start')?.y ?? 0);
  await page.reload();
  await card(page, 'mask').waitFor();
  await expect
    .poll(async () => (await left(page, 'mask')) - (await left(page, 'start')))
    .toBeGreaterThan(100);
  expect(complaints).toEqual([]);
  await studio.stop();
});
