import { expect, it } from 'vitest';
import { card, choose, launch, openPage, Studio } from './world';

const GRAPH = `server: { name: secrets, version: "1.0.0" }
redact: [password]
tools:
  - name: enter
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: make }
      - { id: make, type: transform, transform: { expr: '{ "password": "open sesame" }' }, next: use }
      - { id: use, type: transform, transform: { expr: "$length($.make.password)" }, next: exit }
      - { id: exit, type: exit }
`;

it('whoever goes on from a run is told that it has masked values', async () => {
  const browser = await launch();
  const studio = await Studio.start(GRAPH);
  try {
    const { page, complaints } = await openPage(browser, `${studio.url}#/graph/enter`);
    await card(page, 'entry').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Run' }).click();
    await page.getByText('succeeded', { exact: true }).first().waitFor();
    await choose(page, 'use');
    await page.getByRole('button', { name: 'Re-run from here' }).click();
    await page.getByText('What is kept has masked values').waitFor();
    await page.getByRole('button', { name: 'Begin the new run' }).click();
    await page.getByText('forked at step 2').waitFor();
    await page.getByText('succeeded', { exact: true }).first().waitFor();
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await studio.stop();
  }
});
