/** The real binary with a file on the disk, and a real browser. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, chromium, type Page, type Route } from 'playwright-core';
import { expect } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const binary = process.env.MCPGRAPH_BIN ?? join(repository, 'target/debug/mcpgraph');
const screens = process.env.STUDIO_SCREENS ?? join(repository, 'target/studio-screens');

/** Pages that were built and are not in the binary yet, to be tested without building that. */
const pages = process.env.STUDIO_PAGES;

/** How many times slower the page is than it could be, to find out what depends on being fast. */
const slowdown = Number(process.env.STUDIO_SLOWDOWN ?? 1);

export const example = (name: string): string =>
  readFileSync(join(repository, 'examples', name), 'utf8');

/** A running `mcpgraph studio`. */
export class Studio {
  readonly path: string;
  private readonly folder: string;
  private readonly more: string[];
  private process: ChildProcess | null = null;
  /** A free port at first; that one again after a restart. */
  private address = '127.0.0.1:0';

  private constructor(folder: string, more: string[]) {
    this.folder = folder;
    this.more = more;
    this.path = join(folder, 'graph.yaml');
  }

  get url(): string {
    return `http://${this.address}/`;
  }

  /** With a graph file, other files beside it, and further arguments. */
  static async start(
    text: string,
    others: Record<string, string> = {},
    more: string[] = [],
  ): Promise<Studio> {
    const folder = mkdtempSync(join(tmpdir(), 'studio-'));
    for (const [name, content] of Object.entries(others)) {
      writeFileSync(join(folder, name), content);
    }
    mkdirSync(join(folder, 'data'));
    for (const name of ['alpha.txt', 'beta.txt', 'notes.md']) {
      writeFileSync(join(folder, 'data', name), name);
    }
    const studio = new Studio(folder, more);
    studio.write(text);
    await studio.begin();
    return studio;
  }

  async begin() {
    const records = join(this.folder, 'records');
    const args = ['studio', '-g', this.path, '--http', this.address, '--data', records];
    args.push(...this.more);
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process = child;
    this.address = await new Promise<string>((resolve, reject) => {
      let said = '';
      const hear = (chunk: Buffer) => {
        said += chunk.toString();
        const at = said.match(/the studio is at http:\/\/([^/]+)\//)?.[1];
        if (at) resolve(at);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`mcpgraph ended with ${code}: ${said}`)));
    });
  }

  /** Ends the process without asking. */
  async kill() {
    const child = this.process;
    this.process = null;
    if (!child || child.exitCode !== null) return;
    await new Promise((resolve) => child.on('exit', resolve).kill('SIGKILL'));
  }

  async stop() {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  read = (): string => readFileSync(this.path, 'utf8');
  write = (text: string) => writeFileSync(this.path, text);

  async api<T>(path: string): Promise<T> {
    const answer = await fetch(new URL(path, this.url));
    return (await answer.json()) as T;
  }
}

/** A client that speaks MCP with the server, as an agent would. */
export class Client {
  private readonly url: string;
  private session = '';
  private last = 0;

  private constructor(url: string) {
    this.url = url;
  }

  static async connect(studio: Studio, name = 'agent'): Promise<Client> {
    const client = new Client(new URL('mcp', studio.url).href);
    await client.send('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name, version: '1' },
    });
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  /** Calls a tool; what it gave. */
  async call(name: string, args: object): Promise<ToolResult> {
    return (await this.send('tools/call', { name, arguments: args })) as ToolResult;
  }

  /** The names of all tools. */
  async listTools(): Promise<string[]> {
    const { tools } = (await this.send('tools/list', {})) as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  }

  private async send(method: string, params: object): Promise<unknown> {
    this.last += 1;
    const answer = await this.post({ jsonrpc: '2.0', id: this.last, method, params });
    const text = await answer.text();
    // The answer is the body, or the last event of a stream.
    const data = text.startsWith('{') ? text : (text.match(/^data: (\{.*)$/gm)?.at(-1) ?? '');
    const { result, error } = JSON.parse(data.replace(/^data: /, ''));
    if (error) throw new Error(JSON.stringify(error));
    return result;
  }

  private async post(message: object): Promise<Response> {
    const headers: Record<string, string> = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    if (this.session) headers['Mcp-Session-Id'] = this.session;
    const answer = await fetch(this.url, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
    });
    this.session = answer.headers.get('mcp-session-id') ?? this.session;
    return answer;
  }
}

export interface ToolResult {
  isError?: boolean;
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
}

export async function launch(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

export type Theme = 'light' | 'dark';

/** Opens a page; whatever the browser complains about fails the test at its end. */
export async function openPage(
  browser: Browser,
  url: string,
  theme: Theme = 'light',
): Promise<{ page: Page; complaints: string[] }> {
  const viewport = { width: 1440, height: 900 };
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000 * slowdown);
  if (slowdown > 1) {
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  }
  if (pages) await page.route(/\/(app\.js|app\.css|code\.js)$/, serveBuilt);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A refused request is a part of some tests; a refused script or style never is.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints };
}

async function serveBuilt(route: Route) {
  const response = await route.fetch();
  const name = new URL(route.request().url()).pathname;
  await route.fulfill({ response, body: readFileSync(join(pages ?? '', name)) });
}

/** Lets every answer to a request take its time: `delay` says how many milliseconds. */
export async function slowly(page: Page, path: string, delay: () => number) {
  await page.route(path, async (route) => {
    try {
      const response = await route.fetch();
      await new Promise((rested) => setTimeout(rested, delay()));
      await route.fulfill({ response });
    } catch {
      // The page is gone.
    }
  });
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Waits until nothing on the page moves, and nothing of it changes any more. */
export async function still(page: Page) {
  await page.evaluate(async () => {
    const rest = 150;
    const patience = 10_000;
    const ends = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(ends.map(({ finished }) => finished));
    await new Promise<void>((resolve) => {
      const begin = () => setTimeout(done, rest);
      const observer = new MutationObserver(() => {
        clearTimeout(timer);
        timer = begin();
      });
      const done = () => {
        observer.disconnect();
        resolve();
      };
      let timer = begin();
      // Some pages never rest, such as those of a run under way.
      setTimeout(done, patience);
      const all = { subtree: true, childList: true, attributes: true, characterData: true };
      observer.observe(document, all);
    });
  });
}

/** Takes a picture of a screen and looks for what keeps people out of it. */
export async function look(page: Page, name: string, theme: Theme) {
  mkdirSync(screens, { recursive: true });
  await still(page);
  await page.screenshot({ path: join(screens, `${name}-${theme}.png`) });
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    (tags): Promise<AxeResults> => window.axe.run(document, { runOnly: tags }),
    RULES,
  );
  const problems = found.violations.flatMap((violation) =>
    violation.nodes.map(
      (node) => `${violation.id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`,
    ),
  );
  expect(problems, name).toEqual([]);
}

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** An editor, once it is there: its code comes after the page. */
export const editor = (page: Page, label: string) =>
  page.locator(`[aria-label="${label}"][contenteditable="true"]`);

/** Replaces the text of an editor. */
export async function typeInto(page: Page, label: string, text: string) {
  await editor(page, label).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

export const card = (page: Page, id: string) =>
  page
    .locator('.react-flow__node')
    .filter({ has: page.locator('.id', { hasText: new RegExp(`^${id}$`) }) });

/** Selects a card once it rests: a graph is fitted into its place just after it is drawn. */
export async function choose(page: Page, id: string) {
  await card(page, id).waitFor();
  await still(page);
  await card(page, id).click();
}
