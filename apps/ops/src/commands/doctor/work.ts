import type { Pool } from 'pg';
import { bookStream, CheckHolds } from '#billing/contracts/index.js';
import { stoppedStreams, type StoppedStream } from '#event-sourcing/parking/parked-streams.js';
import { consumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { readSetAside } from '#event-sourcing/parking/set-aside.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { ABSENT_AFTER_MS, missingRoles } from '#platform/time/heartbeat.js';
import { stuckJobs } from '#platform/jobs/stuck-jobs.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { ListWebhookEndpoints } from '#webhooks/contracts/index.js';
import { catalogueOf } from '../../catalogues.js';
import type { Session } from '../../session.js';
import { ownerOf, parsePlace, problemOf, requireEvent, wayAround } from '../parked/event.js';
import { failure, graded, ok, warning, type Finding } from './finding.js';

/** Age of the oldest unhandled event (seconds). */
const LAG_SECONDS = [10, 120] as const;

export const checkWorkers = async (pool: Pool): Promise<Finding> => {
  const { rows } = await pool.query<{ alive: number }>(
    `select count(*)::int as alive from platform.heartbeat
     where role = 'worker' and beat_at > clock_timestamp() - make_interval(secs => $1)`,
    [ABSENT_AFTER_MS / 1_000],
  );
  const alive = rows[0]!.alive;
  if (alive === 0)
    return failure(
      'workers',
      `no heartbeat for ${ABSENT_AFTER_MS / 1_000} s`,
      'Start a worker: without one, no reading is calculated and no webhook sent.',
    );
  const missing = await missingRoles(pool);
  return missing.length === 0
    ? ok('workers', `${alive} alive`)
    : failure(
        'workers',
        `${alive} alive, none with the role ${missing.join(' or ')}`,
        'Start a worker that has it in WORKER_ROLES: its work waits meanwhile.',
      );
};

/** Age of the oldest job, and of the oldest delivery, that could be done now (seconds). */
const DUE_SECONDS = [60, 300] as const;

export const checkDeliveries = async ({ queries }: Session): Promise<Finding> => {
  const endpoints = await queries.execute(new ListWebhookEndpoints(null, null));
  const sending = endpoints.filter(({ endpoint }) => ['ok', 'failing'].includes(endpoint.health.state));
  const oldest = Math.max(0, ...sending.map(({ queueAgeSeconds }) => queueAgeSeconds));
  return graded(
    'deliveries',
    oldest,
    DUE_SECONDS,
    oldest === 0 ? 'none is due' : `the oldest has been due for ${oldest} s`,
    'Is a worker with the role webhooks running and keeping up? ops webhooks health has more.',
  );
};

export const checkLag = async ({ pool, store }: Session): Promise<readonly Finding[]> => {
  const lags = await consumerLag(pool, store);
  if (lags.length === 0) return [warning('lag', 'no consumer has ever run', 'Start a worker.')];
  return lags.map(({ consumer, position, events, atLeast, seconds, status, error }) => {
    if (status === 'beyond_the_log') {
      return failure(
        `lag of ${consumer}`,
        `its checkpoint ${position} is beyond the end of the log, or of another one`,
        'PostgreSQL is newer than the event store, and new work is refused. Restore a newer copy of the event store, if there is one. Otherwise: ops projections replay --all --accept-differences "…"',
      );
    }
    return status === 'halted'
      ? failure(`lag of ${consumer}`, `halted at ${error}`, wayOutOfHalt(consumer, error ?? ''))
      : graded(
          `lag of ${consumer}`,
          seconds,
          LAG_SECONDS,
          events === 0
            ? 'caught up'
            : `${events}${atLeast ? ' or more' : ''} events, ${seconds.toFixed(1)} s`,
          'Is a worker running and keeping up? See its log; ops projections lag shows whether the lag shrinks.',
        );
  });
};

/** What a consumer says when it halts because it parks too much. */
const TOO_MUCH_PARKED = 'keep streams parked already';

/** A store's fault halts a consumer at an event that is right: only the events of a consumer that parks too much are bad. */
export const wayOutOfHalt = (consumer: string, error: string): string => {
  const fix = `Fix the cause: it then continues by itself, and ops parked retry ${consumer} does so at once.`;
  return error.endsWith(TOO_MUCH_PARKED)
    ? `${fix} If no program can read the event: ${wayAround(error.split(' ')[0]!)}`
    : fix;
};

/** Findings of one kind, at most. */
const MOST = 20;

/** One finding for each event that keeps streams parked, however many streams and consumers wait for it. */
export const checkParked = async ({ pool, store }: Session): Promise<readonly Finding[]> => {
  const parked = (await stoppedStreams(pool)).filter(({ state }) => state === 'parked');
  if (parked.length === 0) return [ok('parked streams', 'none')];
  const causes = [...new Set(parked.map(({ cause }) => cause))].slice(0, MOST);
  return Promise.all(
    causes.map((cause) =>
      parkedBecause(
        store,
        cause,
        parked.filter((one) => one.cause === cause),
      ),
    ),
  );
};

const parkedBecause = async (
  store: EventStore,
  cause: string,
  parked: readonly StoppedStream[],
): Promise<Finding> => {
  const event = await requireEvent(store, parsePlace(cause)).catch(() => null);
  const problem =
    event && catalogueOf(event.stream) ? problemOf(event, await ownerOf(store, event.stream)) : null;
  const first = parked.find(({ error }) => !error.startsWith('waits for ')) ?? parked[0]!;
  const consumers = [...new Set(parked.map(({ consumer }) => consumer))].toSorted().join(', ');
  const streams = new Set(parked.map(({ stream }) => stream)).size;
  return failure(
    'parked streams',
    `${cause}${event ? ` (${event.type})` : ''} keeps ${streams} stream${streams === 1 ? '' : 's'} parked in ${consumers}: ${problem ?? first.error}`,
    problem !== null
      ? `Deploy a version that can read it, and it is handled by itself. If none will: ${wayAround(cause)}`
      : first.error.includes(MISSING_ROW)
        ? `ops projections replay ${first.consumer} --stream ${first.stream}`
        : `Fix the cause, and it is handled by itself; ops parked retry ${first.consumer} does so at once.`,
  );
};

/** What a view of money says when its row was deleted. */
const MISSING_ROW = 'is missing: replay';

/** Decisions of operators: how many there are, and entries that are none. */
export const checkSetAside = async ({ store }: Session): Promise<readonly Finding[]> => {
  const register = await readSetAside(store);
  return [
    ok('set aside', `readers pass over ${register.all().length} events`),
    ...register
      .unreadable()
      .slice(0, MOST)
      .map((entry) => {
        const place = `${entry.stream}@${entry.revision}`;
        return failure(
          'set aside',
          `${place} (${entry.type}) is no decision and has no effect`,
          wayAround(place),
        );
      }),
  ];
};

export const checkJobs = async (pool: Pool, time: Pick<TrustedTime, 'isTrusted'>): Promise<Finding> => {
  // Nobody takes jobs then, and PostgreSQL's clock may be the wrong one: the finding is that of the clock.
  if (!(await time.isTrusted())) return ok('jobs', 'not judged while the clocks differ');
  const { dead, failing, oldest } = await stuckJobs(pool);
  const message = `${dead} out of attempts, ${failing} failing, the oldest due for ${oldest} s`;
  const advice =
    'The worker’s log has the errors. Jobs of readings and replays are added again automatically.';
  const late = graded(
    'jobs',
    oldest,
    DUE_SECONDS,
    message,
    `Is a worker with the role jobs running, with enough WORKER_CONCURRENCY? ${advice}`,
  );
  return late.level === 'ok' && dead + failing > 0 ? warning('jobs', message, advice) : late;
};

/** A damaged test book is a finding of its own: the live books do not depend on it. */
const HOLDS = 'billing.hold.v1';
const HELD = [
  { check: 'holds', livemode: true, option: '' },
  { check: 'test holds', livemode: false, option: ' --mode test' },
] as const;

export const checkHolds = async (session: Session): Promise<readonly Finding[]> => {
  // PostgreSQL's clock says how old they are, and may be the wrong one: the finding is that of the clock.
  if (!(await session.time.isTrusted())) return [ok('holds', 'not judged while the clocks differ')];
  return (await Promise.all(HELD.map((held) => holdsOf(held, session)))).flat();
};

const holdsOf = async (
  { check, livemode, option }: (typeof HELD)[number],
  { queries, config }: Session,
): Promise<readonly Finding[]> => {
  const olderThanMs = config.READING_TIMEOUT_MS + config.RESERVATION_FENCE_MS;
  const { old, differences } = await queries.execute(new CheckHolds(olderThanMs, livemode));
  return [
    old === 0
      ? ok(check, 'none older than a reading may take')
      : warning(
          check,
          `${old} older than a reading may take`,
          `ops ledger reconcile${option} shows them; settlement may be halted.`,
        ),
    ...differences.map(({ workspaceId, held, open }) =>
      failure(
        check,
        `the ${livemode ? 'book' : 'test book'} of ${workspaceId} holds ${held} credits, and its open holds have ${open}: rows were changed or deleted`,
        // A replay makes missing rows again, and finds no others.
        open < held
          ? `ops projections replay ${HOLDS} --stream ${bookStream(workspaceId, livemode)}`
          : `ops projections rebuild ${HOLDS}, then verify and switch (docs/operations.md, "Rebuilding a read model").`,
      ),
    ),
  ];
};
