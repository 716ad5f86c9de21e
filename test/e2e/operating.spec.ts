import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { programPath } from '#platform/program-path.js';
import { Browsers, describeInBrowser } from '../support/browser.js';
import { fixture, startApi, startStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { faultsInBothThemes } from './support/portal-page.js';

const stack = fixture(startStack);
const customer = fixture(() => Integrator.open(stack, 1_000));
/** A loaded machine is late for a moment, so one answer says little. */
const untilReady = () => until(async () => (await stack.ready()).status === 200, 'the service is ready');
const refusal = async (...args: string[]) => {
  const { code, stderr } = await stack.runOps(args);
  expect(code).toBe(1);
  return stderr;
};
const VIEW = 'readings.reading.v1';
const parked = async (consumer: string) =>
  (await stack.report<{ stopped: { cause: string; stream: string }[] }>(['parked', 'list', consumer]))
    .stopped;

/** From now on, until {@link mend}, a table takes no row that breaks the rule. */
const plant = (table: string, rule: string) =>
  stack.query(`alter table ${table} add constraint planted check (${rule}) not valid`);
const mend = (table: string) => stack.query(`alter table ${table} drop constraint planted`);

it('The log tells the story of a reading in order across modules, with causes, as a table and JSON', async () => {
  const readingId = await customer.published();
  await customer.untilConsumed(20);
  const { events } = (await stack.ops(['events', '--reading', readingId])) as {
    events: { id: string; type: string; cause: { type: string | null }; correlationId: string }[];
  };
  const types = events.map(({ type }) => type);
  expect(types.slice(0, 2)).toEqual(['CreditsReserved', 'ReadingRequested']);
  expect(types.slice(2).toSorted()).toEqual([
    'CreditsCaptured',
    'DocumentPublished',
    'PublicationRequested',
    'ReadingCompleted',
    'ReadingStarted',
  ]);
  expect(events.find(({ type }) => type === 'CreditsCaptured')!.cause.type).toBe('ReadingCompleted');

  const printed = await stack.runOps(['streams', 'find', '--correlation', events[0]!.correlationId]);
  expect(printed.stdout).toContain('ReadingRequested');
  expect(printed.stdout).not.toContain('Lefèvre');
  const newest = await stack.ops(['streams', 'find', '--type', 'ReadingCompleted', '--limit', '1']);
  expect(newest).toMatchObject({ events: [{ stream: `reading-${readingId}` }] });
  expect(await refusal('events', '--reading', 'none')).toMatch(/no event of none/);
});

it('The doctor finds a running stack healthy, and reports what is wrong, and what to do', async () => {
  const healthy = await stack.doctor();
  expect(healthy.filter(({ level, check }) => level === 'failure' && check !== 'disk')).toEqual([]);
  expect(healthy.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      ...['postgres', 'event store', 'clock', 'database role', 'migrations', 'encryption keys', 'workers'],
      ...['lag of readings.reading.v1', 'parked streams', 'jobs', 'disk'],
    ]),
  );
  await stack.query(`delete from migrations.webhooks where name = '0001_webhooks'`);
  const settings = { ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 7).toString('base64')}` };
  const { code, findings } = await stack.report<{ findings: object[] }>(['doctor'], settings);
  await stack.query(`insert into migrations.webhooks (name, run_on) values ('0001_webhooks', now())`);
  expect(code).toBe(1);
  expect(findings).toContainEqual({
    check: 'migrations',
    level: 'failure',
    message: 'not applied: webhooks/0001_webhooks',
    advice: 'Run ops migrate.',
  });
  const advice = expect.stringMatching(/ENCRYPTION_KEYS/);
  expect(findings).toContainEqual(
    expect.objectContaining({ check: 'encryption keys', level: 'failure', advice }),
  );
});

describe('an event that cannot be handled', () => {
  let readingId: string;
  const stream = () => `reading-${readingId}`;

  it('parks its stream in a view, which the doctor names, and nothing else waits', async () => {
    await plant('readings.reading', `locale <> 'en-US'`);
    ({ readingId } = (await customer.create(person('Zoé', 'en-US'))).body);
    await until(async () => (await parked(VIEW)).length > 0, 'the stream is parked');
    // What follows from it may wait for it already.
    expect((await parked(VIEW))[0]).toMatchObject({ consumer: VIEW, state: 'parked', stream: stream() });
    await customer.published();
    expect((await stack.runOps(['doctor'])).stdout).toContain(
      `parked streams: ${stream()}@0 (ReadingRequested) keeps `,
    );
    await untilReady();
    expect((await stack.ready()).body).toMatchObject({ parkedStreams: expect.any(Number) });
    expect(await refusal('parked', 'retry', VIEW, '--wait', '1')).toMatch(/still parked/);
    const [{ cause } = { cause: '' }] = await parked(VIEW);
    expect(await refusal('parked', 'set-aside', cause, '--reason', 'no', '--yes')).toContain(
      'must handle it',
    );
  });

  describeInBrowser('the console of operators', () => {
    const browsers = fixture(Browsers.start);
    let page: Page;
    let completed: string;
    let console: { url: URL; home: string; child: ChildProcess };

    beforeAll(async () => {
      completed = await customer.published();
      const child = spawn(process.execPath, [programPath('ops'), 'console', '--json'], {
        env: { ...process.env, NODE_OPTIONS: '', DATA_DIR: stack.dataDir },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      const url = new URL((JSON.parse(line) as { url: string }).url);
      console = { url, home: `/${url.pathname.split('/')[1]!}`, child };
      ({ page } = await browsers.person(url.origin));
    });
    afterAll(() => void console?.child.kill('SIGKILL'));

    /** The status of a request with headers that browsers set themselves. */
    const statusOf = (path: string, headers: Record<string, string>, method = 'GET'): Promise<number> =>
      new Promise((resolve, reject) => {
        request(`${console.url.origin}${path}`, { method, headers }, (response) => {
          response.resume();
          resolve(response.statusCode!);
        })
          .once('error', reject)
          .end();
      });

    it('opens by a link that works once, also from a page elsewhere', async () => {
      const { href, pathname } = console.url;
      expect(await statusOf(pathname, {}, 'HEAD')).toBe(204);
      await page.goto(`data:text/html,<a href="${href}">in</a>`);
      await page.getByRole('link').click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      expect((await fetch(href)).status).toBe(410);
    });

    it('answers only its own host and its own cookie', async () => {
      const { url, home } = console;
      const [own] = await page.context().cookies(`${url.origin}${home}`);
      const cookie = `${own!.name}=${own!.value}`;
      expect(await statusOf(home, { cookie })).toBe(200);
      for (const host of ['attacker.example', 'localhost'])
        expect(await statusOf(home, { cookie, host: `${host}:${url.port}` })).toBe(421);
      expect(await statusOf(home, { cookie: 'console=guess' })).toBe(401);
      expect(await statusOf('/', {})).toBe(401);
      expect(await (await fetch(url.origin)).text()).not.toContain(home);
    });

    it('shows every page in both themes, wide and narrow, without a fault that axe finds', async () => {
      const faults: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      for (const [path, shown] of [
        ['', 'worker'],
        ['/consumers', VIEW],
        ['/parked', stream()],
        ['/doctor', 'encryption keys'],
        ['/reading', 'Reading'],
        [`/reading?reading=${completed}`, `reading-${completed}@0`],
      ] as const) {
        const answer = await page.goto(`${console.home}${path}`);
        if (answer?.status() !== 200) faults.push(`${path}: ${answer?.status()}`);
        await page.getByText(shown).first().waitFor();
        faults.push(...(await faultsInBothThemes(page)).map((fault) => `${path}: ${fault}`));
      }
      expect(faults).toEqual([]);
      // The story of a reading, without what it holds.
      expect(await page.content()).not.toMatch(/Lefèvre|sealedInput|1990-04-12/);
    });

    it('says that a store is away, and shows the rest', async () => {
      const eventStore = stack.pids()['event-store'];
      process.kill(eventStore, 'SIGSTOP');
      try {
        await page.goto(console.home, { timeout: 180_000 });
        await page.locator('.refusal').first().waitFor();
        await page.getByRole('rowheader', { name: 'worker' }).first().waitFor();
      } finally {
        process.kill(eventStore, 'SIGCONT');
      }
    });

    it('ends when it is interrupted', async () => {
      const exited = once(console.child, 'exit');
      console.child.kill('SIGINT');
      expect(await exited).toEqual([0, null]);
      await expect(fetch(console.url.origin)).rejects.toThrow();
    });
  });

  it('is handled by a retry after the cause is fixed, which the audit has', async () => {
    await mend('readings.reading');
    await stack.ops(['parked', 'retry', VIEW, '--stream', stream()]);
    const record = { route: `parked retry ${VIEW}`, actor: expect.stringMatching(/^operator:/) };
    expect(await stack.ops(['audit', '--reading', readingId])).toMatchObject({
      records: expect.arrayContaining([expect.objectContaining(record)]),
    });
    await customer.untilEnded(readingId);
    expect(await parked(VIEW)).toEqual([]);
  });
});

/** Last: the stack's own processes are refused in the end. */
it('A process with another DIGEST_KEY makes no second reading of a repeated request, and doctor says why', async () => {
  const OTHER_KEY = { DIGEST_KEY: Buffer.alloc(32, 9).toString('base64') };
  const order = { 'idempotency-key': 'order-1' };
  expect((await customer.create(person(), order)).status).toBe(202);
  const api = await startApi(stack, OTHER_KEY);
  try {
    expect((await customer.at(stack, api.baseUrl).create(person(), order)).status).toBe(503);
    const causes = { postgres: 'other_installation' };
    expect(await (await fetch(`${api.baseUrl}/readyz`)).json()).toMatchObject({ causes });
  } finally {
    await api.stop();
  }
  expect(await stack.doctor(OTHER_KEY)).toContainEqual(
    expect.objectContaining({ check: 'postgres', level: 'failure', cause: 'other_installation' }),
  );
  const list = await stack.runOps(['workspace', 'list'], OTHER_KEY);
  expect([list.code === 0, list.stderr]).toEqual([false, expect.stringContaining('DIGEST_KEY')]);
});
