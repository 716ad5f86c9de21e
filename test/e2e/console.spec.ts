import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { programPath } from '#platform/program-path.js';
import { Browsers, describeInBrowser } from '../support/browser.js';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { axeFaults, isTooWide } from './support/portal-page.js';

interface Opened {
  readonly url: string;
  readonly origin: string;
  readonly home: string;
  readonly child: ChildProcess;
}

let stack: StartedStack;
let browsers: Browsers;
let customer: Integrator;
let database: pg.Client;
let readingId: string;
let opened: Opened;
let page: Page;
const started: ChildProcess[] = [];

const openConsole = async (...options: readonly string[]): Promise<Opened> => {
  const child = spawn(process.execPath, [programPath('ops'), 'console', '--json', ...options], {
    env: { ...process.env, NODE_OPTIONS: '', DATA_DIR: stack.dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const { origin, pathname } = new URL(url);
  return { url, origin, home: `/${pathname.split('/')[1]!}`, child };
};

/** The status of a request with headers that browsers set themselves. */
const statusOf = (path: string, headers: Record<string, string>, method = 'GET'): Promise<number> =>
  new Promise((resolve, reject) => {
    request(`${opened.origin}${path}`, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .once('error', reject)
      .end();
  });

const cookie = async (): Promise<string> => {
  const [one] = await page.context().cookies(`${opened.origin}${opened.home}`);
  return `${one!.name}=${one!.value}`;
};

const paths = (): readonly string[] => [
  '',
  ...['consumers', 'parked', 'doctor', 'reading'].map((area) => `/${area}`),
  `/reading?reading=${readingId}`,
];

describeInBrowser('the console of operators', () => {
  beforeAll(async () => {
    [stack, browsers] = await Promise.all([startStack(), Browsers.start()]);
    customer = await Integrator.open(stack, 1_000);
    database = new pg.Client({ connectionString: stack.databaseUrl });
    await database.connect();
    ({ readingId } = (await customer.create(person())).body);
    await customer.untilEnded(readingId);
    opened = await openConsole();
    ({ page } = await browsers.person(opened.origin));
  });
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await browsers?.stop();
    await database?.end();
    await stack?.stop();
  });

  it('opens by a link that works once, also from a page elsewhere', async () => {
    expect(await statusOf(new URL(opened.url).pathname, {}, 'HEAD')).toBe(204);
    await page.goto(`data:text/html,<a href="${opened.url}">in</a>`);
    await page.getByRole('link').click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect((await fetch(opened.url)).status).toBe(410);
  });

  it('answers only its own host, its own cookie and its own forms', async () => {
    const own = await cookie();
    const port = new URL(opened.origin).port;
    expect(await statusOf(opened.home, { cookie: own })).toBe(200);
    expect(await statusOf(opened.home, { cookie: own, host: `attacker.example:${port}` })).toBe(421);
    expect(await statusOf(opened.home, { cookie: own, host: `localhost:${port}` })).toBe(421);
    expect(await statusOf(opened.home, { cookie: 'console=guess' })).toBe(401);
    expect(await statusOf('/', {})).toBe(401);
    const form = { cookie: own, 'content-type': 'application/x-www-form-urlencoded' };
    for (const origin of ['https://attacker.example', `http://127.0.0.1:1`, 'null'])
      expect(await statusOf(`${opened.home}/doctor`, { ...form, origin }, 'POST')).toBe(403);
    expect(await statusOf(`${opened.home}/doctor`, form, 'POST')).toBe(403);
  });

  it('shows every page in both themes, wide and narrow, without a fault that axe finds', async () => {
    const faults: string[] = [];
    const said: string[] = [];
    page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [320, 1_280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        for (const path of paths()) {
          const answer = await page.goto(`${opened.home}${path}`);
          if (answer?.status() !== 200) faults.push(`${path}: ${answer?.status()}`);
          faults.push(...(await axeFaults(page)).map((fault) => `${path} ${width} ${colorScheme}: ${fault}`));
          if (await isTooWide(page)) faults.push(`${path} ${width}: wider than its window`);
          const pictures = process.env['CONSOLE_PICTURES'];
          const name = path.replaceAll(/[^a-z]+/g, '-').slice(0, 20);
          if (pictures)
            await page.screenshot({
              path: `${pictures}/${name}-${width}-${colorScheme}.png`,
              fullPage: true,
            });
        }
      }
    expect([faults, said]).toEqual([[], []]);
  });

  it('tells the story of a reading, without what it holds', async () => {
    await page.goto(`${opened.home}/reading?reading=${readingId}`);
    const story = page.getByRole('table', { name: 'Its story' });
    expect(await story.getByRole('row').count()).toBeGreaterThan(6);
    await page.getByRole('cell', { name: `reading-${readingId}@0` }).waitFor();
    expect(await page.content()).not.toMatch(/Lefèvre|sealedInput|1990-04-12/);
  });

  it('runs the checks of the doctor', async () => {
    await page.goto(`${opened.home}/doctor`);
    await page.getByRole('button', { name: 'Run all checks' }).click();
    await page.getByText('Last run:').waitFor();
    await page.getByText('encryption keys', { exact: true }).waitFor();
  });

  it('retries a parked stream, and records who did', async () => {
    await database.query(
      `alter table readings.reading add constraint planted check (locale <> 'en-US') not valid`,
    );
    const parked = (await customer.create(person('Zoé', 'en-US'))).body.readingId;
    await until(
      async () => (await database.query('select from event_sourcing.parked_stream')).rows.length > 0,
      () => 'the stream is parked',
    );
    await page.goto(`${opened.home}/parked`);
    const row = page
      .getByRole('row')
      .filter({ hasText: `reading-${parked}` })
      .first();
    await database.query('alter table readings.reading drop constraint planted');
    await row.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('The stream is handled, and continues.').waitFor();
    const { rows } = await database.query(
      "select actor, reading_id from platform.audit_record where method = 'OPS'",
    );
    expect(rows).toContainEqual({
      actor: (await page.locator('.top .soft').innerText()).trim(),
      reading_id: parked,
    });
    await customer.untilEnded(parked);
  });

  it('says that a store is away, and shows the rest', async () => {
    const eventStore = stack.pids()['event-store'];
    process.kill(eventStore, 'SIGSTOP');
    try {
      await page.goto(opened.home, { timeout: 60_000 });
      await page.locator('.refusal').first().waitFor();
      await page.getByRole('rowheader', { name: 'worker' }).first().waitFor();
    } finally {
      process.kill(eventStore, 'SIGCONT');
    }
  });

  it('ends when it is interrupted', async () => {
    const exited = once(opened.child, 'exit');
    opened.child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    await expect(fetch(opened.origin)).rejects.toThrow();
  });
});
