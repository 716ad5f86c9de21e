import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { programPath } from '#platform/program-path.js';
import { Browsers, describeInBrowser } from '../support/browser.js';
import { fixture, startApi, startStack, type StartedProcess } from '../support/index.js';
import { Integrator, person, until, untilHandled } from '../support/integrator.js';
import { axeFaults, isTooWide } from './support/portal-page.js';

const stack = fixture(startStack);
const customer = fixture(() => Integrator.open(stack, 1_000));
const programs: ChildProcess[] = [];
afterAll(() => {
  for (const one of programs) one.kill('SIGKILL');
});

const startOps = (...args: string[]) => {
  const child = spawn(process.execPath, [programPath('ops'), ...args], {
    env: { ...process.env, NODE_OPTIONS: '', DATA_DIR: stack.dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  programs.push(child);
  return child;
};
/** A loaded machine is late for a moment, so one answer says little. */
const untilReady = () => until(async () => (await stack.ready()).status === 200, 'the service is ready');
const refusal = async (...args: string[]) => {
  const { code, stderr } = await stack.runOps(args);
  expect(code).toBe(1);
  return stderr;
};
const parked = async (consumer: string) =>
  (await stack.report<{ stopped: { cause: string; stream: string }[] }>(['parked', 'list', consumer]))
    .stopped;

/** From now on, until {@link mend}, a table takes no row that breaks the rule. */
const plant = (table: string, rule: string) =>
  stack.query(`alter table ${table} add constraint planted check (${rule}) not valid`);
const mend = (table: string) => stack.query(`alter table ${table} drop constraint planted`);
/** Plants a fault, and orders a reading that it parks. */
const parkReading = async (): Promise<string> => {
  await plant('readings.reading', `locale <> 'en-US'`);
  const { readingId } = (await customer.create(person('Zoé', 'en-US'))).body;
  await until(async () => (await parked('readings.reading.v1')).length > 0, 'the stream is parked');
  return readingId;
};

describe('the log', () => {
  it('tells the story of a reading in order across modules, with causes, as a table and JSON', async () => {
    const before = await customer.balanceAtRest();
    const readingId = await customer.published();
    await customer.untilConsumed(before.consumed + 20);
    const { events } = (await stack.ops(['events', '--reading', readingId])) as {
      events: { type: string; cause: { type: string | null }; correlationId: string; position: string }[];
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
    const positions = events.map(({ position }) => BigInt(position));
    expect(positions).toEqual(positions.toSorted((one, other) => (one < other ? -1 : 1)));

    const printed = await stack.runOps(['streams', 'find', '--correlation', events[0]!.correlationId]);
    expect(printed.stdout).toContain('ReadingRequested');
    expect(printed.stdout).not.toContain('Lefèvre');
    expect(await refusal('events', '--reading', 'none')).toMatch(/no event of none/);
  });

  it('can be searched newest first', async () => {
    const readingId = await customer.published();
    const find = ['streams', 'find'];
    const newest = (await stack.ops([...find, '--type', 'ReadingCompleted', '--limit', '1'])) as {
      events: [{ id: string; stream: string }];
    };
    expect(newest.events).toMatchObject([{ stream: `reading-${readingId}` }]);
    expect(await stack.ops([...find, '--id', newest.events[0].id])).toEqual(newest);
    expect(await refusal(...find)).toMatch(/Say what/);
  });
});

describe('the doctor', () => {
  it('finds a running stack healthy', async () => {
    const findings = await stack.doctor();
    expect(findings.filter(({ level, check }) => level === 'failure' && check !== 'disk')).toEqual([]);
    const checks = findings.map(({ check }) => check);
    for (const check of [
      ...['postgres', 'event store', 'clock', 'database role', 'migrations', 'encryption keys', 'workers'],
      ...['lag of readings.reading.v1', 'parked streams', 'jobs', 'disk'],
    ])
      expect(checks).toContain(check);
    expect(findings.find(({ check }) => check === 'encryption keys')!.message).toMatch(/seal open/);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'database role', level: 'ok' }));
  });

  it('reports what is wrong, and what to do', async () => {
    await stack.query(`delete from migrations.webhooks where name = '0001_webhooks'`);
    const otherKey = `other:${Buffer.alloc(32, 7).toString('base64')}`;
    process.kill(stack.pids().worker, 'SIGSTOP');
    try {
      await customer.create(person());
      await until(
        async () => (await stack.ready()).body.checks['consumers'] === false,
        'lag makes it not ready',
      );
      const { code, findings } = await stack.report<{ findings: object[] }>(['doctor'], {
        ENCRYPTION_KEYS: otherKey,
      });
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
    } finally {
      process.kill(stack.pids().worker, 'SIGCONT');
      await stack.query(`insert into migrations.webhooks (name, run_on) values ('0001_webhooks', now())`);
    }
    await untilReady();
  });
});

describe('an event that cannot be handled', () => {
  it('parks its stream in a view; a retry after the cause is fixed rebuilds its rows', async () => {
    const view = 'readings.reading.v1';
    const readingId = await parkReading();
    const stream = `reading-${readingId}`;
    // What follows from it may wait for it already.
    expect((await parked(view))[0]).toMatchObject({ consumer: view, state: 'parked', stream });
    await customer.published();
    expect((await stack.runOps(['doctor'])).stdout).toContain(
      `parked streams: ${stream}@0 (ReadingRequested) keeps `,
    );
    await untilReady();
    expect((await stack.ready()).body).toMatchObject({ parkedStreams: expect.any(Number) });
    await refusal('parked', 'retry', view);
    await mend('readings.reading');
    await stack.ops(['parked', 'retry', view, '--stream', stream]);
    const record = { route: `parked retry ${view}`, actor: expect.stringMatching(/^operator:/) };
    expect(await stack.ops(['audit', '--reading', readingId])).toMatchObject({
      records: expect.arrayContaining([expect.objectContaining(record)]),
    });
    await customer.untilEnded(readingId);
    const found = 'select locale from readings.reading where reading_id = $1';
    expect(await stack.query(found, [readingId])).toEqual([{ locale: 'en-US' }]);
    expect(await parked(view)).toEqual([]);
  });

  it('parks a book in a view of money, which never skips: nobody can set an event aside that can be read', async () => {
    await untilHandled(stack);
    const view = 'billing.balance.v1';
    const [most] = await stack.query<{ consumed: string }>(
      'select max(consumed) as consumed from billing.balance',
    );
    await plant('billing.balance', `consumed <= ${most!.consumed}`);
    await customer.published();
    await until(async () => (await parked(view)).length === 1, 'the book is parked');
    const [{ cause } = { cause: '' }] = await parked(view);
    const doctor = await stack.runOps(['doctor']);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(
        /FAILURE {2}parked streams: credits-\S+ \(CreditsCaptured\) keeps 1 streams? parked/,
      ),
    ]);
    // Other consumers and other books continue, and so does the service.
    await untilReady();
    expect(await refusal('parked', 'set-aside', cause, '--reason', 'no', '--yes')).toContain(
      'must handle it',
    );
    const retry = ['parked', 'retry', view, '--wait', '1'];
    expect((await stack.runOps(retry)).stderr).toMatch(/still parked/);
    await mend('billing.balance');
    expect(await stack.ops(retry)).toMatchObject({ retried: [`credits-${customer.workspaceId}`] });
    expect(await parked(view)).toEqual([]);
    await stack.ops(['projections', 'replay', view]);
  });
});

describeInBrowser('the console of operators', () => {
  const browsers = fixture(Browsers.start);
  let page: Page;
  let readingId: string;
  let console: { url: URL; home: string; child: ChildProcess };

  beforeAll(async () => {
    readingId = await customer.published();
    const child = startOps('console', '--json');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const url = new URL((JSON.parse(line) as { url: string }).url);
    console = { url, home: `/${url.pathname.split('/')[1]!}`, child };
    ({ page } = await browsers.person(url.origin));
  });

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
  });

  it('shows every page in both themes, wide and narrow, without a fault that axe finds', async () => {
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    const areas = ['consumers', 'parked', 'doctor', 'reading'].map((area) => `/${area}`);
    for (const [colorScheme, width] of [
      ['light', 1_280],
      ['dark', 320],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const path of ['', ...areas, `/reading?reading=${readingId}`]) {
        const answer = await page.goto(`${console.home}${path}`);
        if (answer?.status() !== 200) faults.push(`${path}: ${answer?.status()}`);
        faults.push(...(await axeFaults(page)).map((fault) => `${path} ${colorScheme}: ${fault}`));
        if (await isTooWide(page)) faults.push(`${path} ${width}: wider than its window`);
      }
    }
    expect(faults).toEqual([]);
  });

  it('tells the story of a reading, without what it holds', async () => {
    await page.goto(`${console.home}/reading?reading=${readingId}`);
    const story = page.getByRole('table', { name: 'Its story' });
    expect(await story.getByRole('row').count()).toBeGreaterThan(6);
    await page.getByRole('cell', { name: `reading-${readingId}@0` }).waitFor();
    expect(await page.content()).not.toMatch(/Lefèvre|sealedInput|1990-04-12/);
  });

  it('runs the checks of the doctor', async () => {
    await page.goto(`${console.home}/doctor`);
    await page.getByText('encryption keys', { exact: true }).waitFor();
  });

  it('shows a parked stream', async () => {
    const stopped = await parkReading();
    await page.goto(`${console.home}/parked`);
    await page
      .getByRole('row')
      .filter({ hasText: `reading-${stopped}` })
      .first()
      .waitFor();
    await mend('readings.reading');
    await customer.untilEnded(stopped);
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

it('A document that ended three workers costs nothing: its credits come back, and every audit agrees', async () => {
  const poor = await Integrator.open(stack, 100);
  const of = ['--workspace', poor.workspaceId];
  // As if each document had ended three workers before.
  await stack.query(`
    create function publishing.three_deaths() returns trigger language plpgsql as $$
      begin new.begun := 4; return new; end $$;
    create trigger three_deaths before insert on publishing.render_attempt
      for each row execute function publishing.three_deaths()`);
  const { readingId } = (await poor.create()).body;
  await until(
    async () =>
      (await stack.runOps(['ledger', 'find', readingId])).stdout.includes('billing.document-refund'),
    'the credits come back',
  );
  await until(async () => (await poor.balance()).available === 100, 'the balance has what came back');
  await stack.query('drop trigger three_deaths on publishing.render_attempt');
  expect(await poor.reading(readingId)).toMatchObject({
    status: 'completed',
    document: { available: false },
  });
  for (const books of [of, ['--all']])
    expect(await stack.ops(['ledger', 'verify', ...books])).toMatchObject({ ok: true });
  await until(
    async () => (await stack.runOps(['ledger', 'reconcile', '--all', '--grace', '0'])).code === 0,
    'no differences',
  );
  expect(await stack.ops(['ledger', 'explain', readingId])).toMatchObject({
    outcome: 'completed',
    findings: [],
  });
  const book = join(stack.dataDir, 'book.jsonl');
  await stack.ops(['ledger', 'export', ...of, '--format', 'jsonl', '--out', book]);
  expect(await stack.report(['ledger', 'verify-file', book])).toMatchObject({
    code: 0,
    balances: { available: 100 },
  });
  expect(await stack.ops(['readings', 'unreadable'])).toMatchObject({
    readings: [{ readingId, refunded: true }],
  });
  expect((await stack.runOps(['doctor'])).stdout).toContain(
    `1 documents were given up, such as that of reading ${readingId}`,
  );
});

/** Last: the stack's own processes are refused in the end. */
describe('A process with another DIGEST_KEY', () => {
  const OTHER_KEY = { DIGEST_KEY: Buffer.alloc(32, 9).toString('base64') };
  const apis: StartedProcess[] = [];
  afterAll(() => Promise.all(apis.map((api) => api.stop())));

  /** Repeats a request at one more API on the same stores. */
  const repeatAt = async (settings: Record<string, string>) => {
    const api = await startApi(stack, settings);
    apis.push(api);
    return { api, answer: await customer.at(stack, api.baseUrl).create(person(), ORDER) };
  };
  const ORDER = { 'idempotency-key': 'order-1' };

  it('makes no second reading of a repeated request: it answers 503, and says why', async () => {
    const first = await customer.create(person(), ORDER);
    expect(first.status).toBe(202);
    const { api, answer } = await repeatAt(OTHER_KEY);
    expect(answer.status).toBe(503);
    const ready = await fetch(`${api.baseUrl}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { causes: { postgres: 'other_installation' } },
    ]);
    expect((await repeatAt({})).answer).toMatchObject({
      status: 202,
      body: { readingId: first.body.readingId },
    });
  });

  it('is named by doctor, and no command works with it', async () => {
    expect(await stack.doctor(OTHER_KEY)).toContainEqual(
      expect.objectContaining({ check: 'postgres', level: 'failure', cause: 'other_installation' }),
    );
    const list = await stack.runOps(['workspace', 'list'], OTHER_KEY);
    expect([list.code === 0, list.stderr]).toEqual([false, expect.stringContaining('DIGEST_KEY')]);
  });
});
