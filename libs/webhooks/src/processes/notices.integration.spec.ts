import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FindExpiringGrants, FindLowBalances } from '#billing/contracts/index.js';
import { instant } from '#event-sourcing/core/clock.js';
import { runRetention } from '#platform/retention/retention.js';
import { endpoint } from '../../test/events.js';
import { fanningOut } from '../../test/fanning-out.js';
import { NOTICE_TYPES } from '../contracts/index.js';
import { settings } from '../settings.js';
import { MIN_NOTICE_DAYS, webhookRetentions } from './retention.js';
import { accountScans, endpointScans, noticeRound, type Scan } from './notices.js';

const test = fanningOut();

const NOW = Date.parse('2026-04-04T09:30:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const CONFIG = {
  WEBHOOK_RETRY_SCHEDULE_MS: [0],
};

/** What the other modules know, a page of one each. */
interface Known {
  readonly balances: { workspaceId: string; available: number; toppedUpTo: number; toppedUpBy: string }[];
  readonly grants: { workspaceId: string; grantId: string; remaining: number; expiresAt: string }[];
  readonly keys: { workspaceId: string; keyId: string; mode: 'live' | 'test'; expiresAt: string }[];
}
let known: Known;
beforeEach(() => {
  known = { balances: [], grants: [], keys: [] };
});
const queries = {
  async execute(query: { after: string }) {
    const of = (): readonly object[] => {
      if (query instanceof FindLowBalances) return known.balances;
      return query instanceof FindExpiringGrants ? known.grants : known.keys;
    };
    const at = Number(query.after);
    return { found: of().slice(at, at + 1), next: at + 1 < of().length ? String(at + 1) : null } as never;
  },
};

const round = (at = NOW, scans: readonly Scan[] = allScans()): Promise<void> =>
  noticeRound({ pool: test.database.pool, clock: { now: () => at }, config: CONFIG, scans });
const allScans = (): readonly Scan[] => [
  ...endpointScans(test.database.pool),
  ...accountScans(test.database.pool, queries as never),
];

const asking = (id: string, settings: object = {}) =>
  endpoint(id).created({ notices: [...NOTICE_TYPES], ...settings });
const told = () =>
  test.rows<{ endpoint_id: string; type: string; status: string; body: string }>(
    `select delivery.endpoint_id, event.type, delivery.status, event.body
     from webhooks.delivery join webhooks.public_event event using (event_id)
     order by event.occurred_at, event.type, delivery.endpoint_id`,
  );
const typesTold = async () => (await told()).map(({ type }) => type);
const failing = (endpointId: string, since: number, failures = 4) =>
  test.database.pool.query(
    `insert into webhooks.endpoint_health (endpoint_id, consecutive_failures, failing_since) values ($1, $2, $3)
     on conflict (endpoint_id) do update set consecutive_failures = $2, failing_since = $3`,
    [endpointId, failures, instant(since)],
  );
const disabled = (endpointId: string, reason: string, at = NOW) =>
  test.database.pool.query(
    'update webhooks.endpoint set enabled = false, disabled_reason = $2, disabled_at = $3 where endpoint_id = $1',
    [endpointId, reason, instant(at)],
  );

describe('A workspace is told', () => {
  it('that an endpoint has failed for an hour: once in each time that it fails, and once a day', async () => {
    await test.handle(asking('we_told'), endpoint('we_bad').created());
    await failing('we_bad', NOW - HOUR + 1);
    await round();
    expect(await told()).toEqual([]);
    await round(NOW + 1);
    await round(NOW + 2);
    expect(await told()).toMatchObject([
      { endpoint_id: 'we_told', type: 'endpoint.failing', status: 'pending' },
    ]);
    expect(JSON.parse((await told())[0]!.body)).toMatchObject({
      type: 'endpoint.failing',
      livemode: true,
      endpointId: 'we_bad',
      data: { failingSince: instant(NOW - HOUR + 1), consecutiveFailures: 4 },
    });
    await failing('we_bad', NOW + 2 * HOUR);
    await round(NOW + 4 * HOUR);
    expect(await told()).toHaveLength(1);
    await round(NOW + 1 + DAY);
    expect(await told()).toHaveLength(2);
  });

  it('that the service disabled an endpoint, and not that its owner did', async () => {
    await test.handle(
      asking('we_told'),
      ...['we_gone', 'we_failing', 'we_asked'].map((id) => endpoint(id).created()),
    );
    await disabled('we_gone', 'gone');
    await disabled('we_failing', 'failing');
    await disabled('we_asked', 'requested');
    await round();
    const bodies = (await told()).map(({ body }) => JSON.parse(body) as { endpointId: string; data: object });
    expect(bodies.map(({ endpointId }) => endpointId).sort()).toEqual(['we_failing', 'we_gone']);
    expect(bodies).toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ reason: 'gone' }) }),
    );
  });

  it('that a replay ended, and of no dry run', async () => {
    await test.handle(asking('we_told'));
    const replay = (dryRun: boolean, state: string) =>
      test.database.pool.query(
        `insert into webhooks.replay (replay_id, endpoint_id, workspace_id, since, until, types, statuses, dry_run, state,
           events, created_at, updated_at, finished_at)
         values ($1, 'we_told', 'ws_1', $4, $4, '{}', '{}', $2, $3, 7, $4, $4, case when $3 = 'running' then null else $4::timestamptz end)`,
        [randomUUID(), dryRun, state, instant(NOW)],
      );
    await replay(false, 'finished');
    await replay(true, 'finished');
    await replay(false, 'running');
    await round();
    expect(await told()).toMatchObject([{ type: 'replay.finished' }]);
    expect(JSON.parse((await told())[0]!.body)).toMatchObject({ data: { state: 'finished', events: 7 } });
  });

  it('of credits below its own mark, once after each top-up', async () => {
    await test.handle(asking('we_told'), asking('we_other', { workspaceId: 'ws_2' }));
    await test.database.pool.query(
      `insert into webhooks.content (workspace_id, external_id, low_credits_percent) values ('ws_2', true, 50)`,
    );
    const balance = { toppedUpTo: 400, toppedUpBy: 'plan:1:2026-04' };
    known.balances.push(
      { workspaceId: 'ws_1', available: 40, ...balance },
      { workspaceId: 'ws_2', available: 199, ...balance },
    );
    await round();
    expect(await told()).toMatchObject([{ endpoint_id: 'we_other', type: 'credits.low' }]);
    known.balances[0]!.available = 39;
    await round(NOW + 1);
    await round(NOW + 3 * DAY);
    expect(await typesTold()).toEqual(['credits.low', 'credits.low']);
    known.balances[0]!.toppedUpBy = 'pack:2';
    await round(NOW + 4 * DAY);
    expect(await told()).toHaveLength(3);
    expect(JSON.parse((await told())[1]!.body)).toMatchObject({
      data: { available: 39, toppedUpTo: 400, percent: 10 },
    });
  });

  it('of credits and keys that expire, in the mode of the key', async () => {
    await test.handle(asking('we_live'), asking('we_test', { modes: ['test'] }));
    const expiresAt = instant(NOW + 3 * DAY);
    known.grants.push({ workspaceId: 'ws_1', grantId: 'g1', remaining: 20, expiresAt });
    known.keys.push(
      { workspaceId: 'ws_1', keyId: 'k1', mode: 'live', expiresAt },
      { workspaceId: 'ws_1', keyId: 'k2', mode: 'test', expiresAt },
    );
    await round();
    expect((await told()).map(({ endpoint_id: id, type }) => `${id} ${type}`)).toEqual([
      'we_live credits.expiring',
      'we_live key.expiring',
      'we_test key.expiring',
    ]);
  });
});

describe('A notice', () => {
  it('is told once, although retention has the shortest terms', async () => {
    await test.handle(asking('we_told', { modes: ['live', 'test'] }), endpoint('we_gone').created());
    await disabled('we_gone', 'gone');
    const expiresAt = instant(NOW + 14 * DAY);
    for (const mode of ['live', 'test'] as const)
      known.keys.push({ workspaceId: 'ws_1', keyId: mode, mode, expiresAt });
    const terms = {
      WEBHOOK_DELIVERIES_KEPT_DAYS: 1,
      WEBHOOK_EVENTS_KEPT_DAYS: MIN_NOTICE_DAYS,
      TEST_DATA_KEPT_DAYS: 1,
    };
    const days: string[] = [];
    for (let at = NOW; at < NOW + 14 * DAY; at += DAY) {
      await round(at);
      const added = await test.rows<{ type: string }>(
        `select type from webhooks.notice where occurred_at = '${instant(at)}'`,
      );
      days.push(...added.map(({ type }) => `${(at - NOW) / DAY} ${type}`));
      for (const one of webhookRetentions(test.database.pool, terms))
        await runRetention(test.database.pool, one, at + 1, new AbortController().signal);
    }
    expect(settings.WEBHOOK_EVENTS_KEPT_DAYS.safeParse(String(MIN_NOTICE_DAYS - 1)).success).toBe(false);
    expect(days.toSorted()).toEqual(['0 endpoint.disabled', '0 key.expiring', '0 key.expiring']);
  });

  it('is told once, however many workers look at once', async () => {
    await test.handle(asking('we_told'), endpoint('we_bad').created());
    await failing('we_bad', NOW - 2 * HOUR);
    await Promise.all(Array.from({ length: 8 }, (_, n) => round(NOW + n)));
    expect(await told()).toHaveLength(1);
    expect(await test.rows('select from webhooks.notice')).toHaveLength(1);
  });

  it('comes although another look fails', async () => {
    await test.handle(asking('we_told'), endpoint('we_bad').created());
    await failing('we_bad', NOW - 2 * HOUR);
    const broken: Scan = async function* () {
      yield [];
      throw new Error('no book');
    };
    await expect(round(NOW, [broken, ...allScans()])).rejects.toThrow('no book');
    expect(await told()).toHaveLength(1);
  });
});
