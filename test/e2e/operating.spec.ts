import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { person, until } from '../support/integrator.js';
import { operatedStack } from './support/operated-stack.js';

const operated = operatedStack();
const { json, ready, untilReady, handled, published, follow } = operated;

describe('the story of a reading', () => {
  it('is shown in order across modules, with causes, as a table, a drawing and JSON', async () => {
    const readingId = await published();
    await until(
      async () => (await operated.customer.balance()).held === 0,
      () => 'the credits are captured',
    );
    const { events } = (await operated.stack.ops(['events', '--reading', readingId])) as {
      events: { type: string; cause: { type: string | null }; correlationId: string; position: string }[];
    };
    expect(events.map(({ type }) => type).toSorted()).toEqual([
      'CreditsCaptured',
      'CreditsReserved',
      'DocumentPublished',
      'PublicationRequested',
      'ReadingCompleted',
      'ReadingRequested',
      'ReadingStarted',
    ]);
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['CreditsReserved', 'ReadingRequested']);
    expect(events.find(({ type }) => type === 'CreditsCaptured')!.cause.type).toBe('ReadingCompleted');
    const positions = events.map(({ position }) => BigInt(position));
    expect(positions).toEqual(positions.toSorted((one, other) => (one < other ? -1 : 1)));

    const drawn = await operated.stack.runOps(['events', '--reading', readingId, '--format', 'mermaid']);
    expect(drawn.stdout).toMatch(/^sequenceDiagram\n {2}participant apiKey\n/);
    expect(drawn.stdout).toContain('reading->>credits: CreditsCaptured');
    const printed = await operated.stack.runOps(['events', '--correlation', events[0]!.correlationId]);
    expect(printed.stdout).toContain('ReadingRequested');
    expect(printed.stdout).not.toContain('Lefèvre');
    expect(await operated.stack.runOps(['events'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--reading <id> or/),
    });
    expect(await operated.stack.runOps(['events', '--reading', 'none'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no event of none/),
    });
  });
});

describe('the log', () => {
  it('can be searched newest first, and followed as it grows', async () => {
    const readingId = await published();
    const { events } = (await operated.stack.ops([
      'streams',
      'find',
      '--type',
      'ReadingCompleted',
      '--limit',
      '1',
    ])) as {
      events: { id: string; stream: string; revision: string }[];
    };
    expect(events.map(({ stream }) => stream)).toEqual([`reading-${readingId}`]);
    expect(await operated.stack.ops(['streams', 'find', '--id', events[0]!.id])).toEqual({ events });
    expect(await operated.stack.runOps(['streams', 'find'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Say what/),
    });

    const { exited, printed } = follow([
      'streams',
      'tail',
      '--category',
      'reading',
      '--json',
      '--count',
      '2',
    ]);
    // It prints only events after its start, and nothing shows when it has started.
    const feeding = new AbortController();
    const feed = (async () => {
      while (!feeding.signal.aborted) {
        await operated.customer.create(person());
        await delay(500);
      }
    })();
    expect(await exited).toBe(0);
    feeding.abort();
    await feed;
    const types = printed.map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toHaveLength(2);
    expect(types.every((type) => type.startsWith('Reading'))).toBe(true);
  });
});

describe('a checkpoint beyond the end of the log', () => {
  it('is reported as a failure by every check until it is repaired', async () => {
    const name = 'billing.settlement.v1';
    const { rows } = await operated.database.query<{ position: string | null }>(
      `update event_sourcing.consumer set position = 1000000000000000
       from (select position from event_sourcing.consumer where name = $1 for update) as before
       where name = $1 returning before.position`,
      [name],
    );
    let refusal: Awaited<ReturnType<typeof operated.customer.create>> | undefined;
    await until(
      async () => {
        refusal = await operated.customer.create(person());
        return refusal.status !== 202;
      },
      () => 'new work is refused',
    );
    const doctor = await operated.stack.runOps(['doctor']);
    const lag = await json(['projections', 'lag', '--max-seconds', '3600']);
    const status = await json(['processes', 'status']);
    const notReady = (await ready()).status;
    await operated.database.query('update event_sourcing.consumer set position = $2 where name = $1', [
      name,
      rows[0]!.position,
    ]);
    expect([refusal!.status, refusal!.body]).toEqual([
      503,
      expect.objectContaining({ code: 'enqueue_unavailable' }),
    ]);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(/FAILURE {2}lag of billing.settlement.v1: its checkpoint \d+ is beyond the end/),
    ]);
    for (const { code, ...found } of [lag, status]) {
      expect([code, Object.values(found).flat()]).toEqual([
        1,
        expect.arrayContaining([expect.objectContaining({ consumer: name, status: 'beyond_the_log' })]),
      ]);
    }
    expect(notReady).toBe(503);
    await untilReady();
    expect((await operated.stack.runOps(['processes', 'status'])).code).toBe(0);
  });
});

describe('an event that cannot be handled', () => {
  it('parks its stream in a view; a retry after the cause is fixed rebuilds its rows', async () => {
    await operated.database.query(
      `alter table readings.reading add constraint planted check (locale <> 'en-US') not valid`,
    );
    const { readingId } = (await operated.customer.create(person('Zoé', 'en-US'))).body;
    await until(
      async () => ((await json(['parked', 'list', 'readings.reading.v1']))['stopped'] as object[]).length > 0,
      () => 'the stream is parked',
    );
    const { stopped } = (await operated.stack.ops(['parked', 'list'])) as {
      stopped: Record<string, unknown>[];
    };
    expect(stopped).toContainEqual(
      expect.objectContaining({
        consumer: 'readings.reading.v1',
        state: 'parked',
        stream: `reading-${readingId}`,
      }),
    );
    expect(await published()).toBeTruthy();
    expect((await operated.stack.runOps(['doctor'])).stdout).toContain(
      `parked streams: reading-${readingId}@0 (ReadingRequested) keeps `,
    );
    expect(await untilReady()).toMatchObject({ parkedStreams: expect.any(Number) });

    expect(await operated.stack.runOps(['parked', 'retry', 'readings.reading.v1'])).toMatchObject({
      code: 1,
    });
    await operated.database.query('alter table readings.reading drop constraint planted');
    await operated.stack.ops(['parked', 'retry', 'readings.reading.v1', '--stream', `reading-${readingId}`]);
    expect(await operated.stack.ops(['audit', '--reading', readingId])).toMatchObject({
      records: expect.arrayContaining([
        expect.objectContaining({
          route: 'parked retry readings.reading.v1',
          actor: expect.stringMatching(/^operator:/),
        }),
      ]),
    });
    expect(await operated.customer.reading(readingId)).toMatchObject({
      status: expect.any(String),
      locale: 'en-US',
    });
    await operated.customer.untilEnded(readingId);
    const { rows } = await operated.database.query(
      'select locale from readings.reading where reading_id = $1',
      [readingId],
    );
    expect(rows).toEqual([{ locale: 'en-US' }]);
    expect(await operated.stack.ops(['parked', 'list'])).toMatchObject({ stopped: [] });
  });

  it('parks a book in a view of money, which never skips: nobody can set an event aside that can be read', async () => {
    await handled();
    const { rows } = await operated.database.query('select max(consumed) as consumed from billing.balance');
    const { consumed } = rows[0] as { consumed: string };
    await operated.database.query(
      `alter table billing.balance add constraint planted check (consumed <= ${consumed}) not valid`,
    );
    await published();
    const stopped = async () =>
      (await json(['parked', 'list', 'billing.balance.v1']))['stopped'] as { cause: string }[];
    await until(
      async () => (await stopped()).length === 1,
      () => 'the book is parked',
    );
    const [{ cause } = { cause: '' }] = await stopped();
    const doctor = await operated.stack.runOps(['doctor']);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(
        /FAILURE {2}parked streams: credits-\S+ \(CreditsCaptured\) keeps 1 streams? parked/,
      ),
    ]);
    // Other consumers and other books continue, and so does the service.
    await untilReady();

    const book = `credits-${operated.customer.workspaceId}`;
    const refused = await operated.stack.runOps(['parked', 'set-aside', cause, '--reason', 'no', '--yes']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('must handle it')]);
    const retry = ['parked', 'retry', 'billing.balance.v1', '--wait', '1'];
    expect((await operated.stack.runOps(retry)).stderr).toMatch(/still parked/);
    await operated.database.query('alter table billing.balance drop constraint planted');
    expect(await operated.stack.ops(retry)).toMatchObject({ retried: [book] });
    expect(await stopped()).toEqual([]);
    await operated.stack.ops(['projections', 'replay', 'billing.balance.v1']);
  });
});

describe('the doctor', () => {
  it('finds a running stack healthy', async () => {
    const { code, healthy, findings } = (await json(['doctor'])) as unknown as {
      code: number;
      healthy: boolean;
      findings: { check: string; level: string; message: string }[];
    };
    expect(findings.filter(({ level, check }) => level === 'failure' && check !== 'disk')).toEqual([]);
    if (healthy) expect(code).toBe(0);
    const checks = findings.map(({ check }) => check);
    for (const check of [
      'postgres',
      'event store',
      'clock',
      'database role',
      'migrations',
      'encryption keys',
      'workers',
      'lag of readings.reading.v1',
      'parked streams',
      'jobs',
      'holds',
      'disk',
    ])
      expect(checks).toContain(check);
    expect(findings.find(({ check }) => check === 'encryption keys')!.message).toMatch(/seal open/);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'database role', level: 'ok' }));
  });

  it('reports what is wrong, and what to do', async () => {
    await operated.database.query(`delete from migrations.webhooks where name = '0001_webhooks'`);
    const otherKey = `other:${Buffer.alloc(32, 7).toString('base64')}`;
    process.kill(operated.stack.pids().worker, 'SIGSTOP');
    try {
      await operated.customer.create(person());
      await until(
        async () => (await ready()).body.checks['consumers'] === false,
        () => 'lag makes it not ready',
      );
      const { code, findings } = (await json(['doctor'], { ENCRYPTION_KEYS: otherKey })) as unknown as {
        code: number;
        findings: { check: string; level: string; message: string; advice: string }[];
      };
      expect(code).toBe(1);
      expect(findings).toContainEqual({
        check: 'migrations',
        level: 'failure',
        message: 'not applied: webhooks/0001_webhooks',
        advice: 'Run ops migrate.',
      });
      expect(findings).toContainEqual(
        expect.objectContaining({
          check: 'encryption keys',
          level: 'failure',
          advice: expect.stringMatching(/ENCRYPTION_KEYS/),
        }),
      );
    } finally {
      process.kill(operated.stack.pids().worker, 'SIGCONT');
      await operated.database.query(
        `insert into migrations.webhooks (name, run_on) values ('0001_webhooks', now())`,
      );
    }
    await untilReady();
  });
});
