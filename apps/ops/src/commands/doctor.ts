import { statfs } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Pool } from 'pg';
import { hostOf, readAddress, type StoreAddress } from '#event-sourcing/store/address.js';
import type { Role } from '#event-sourcing/store/connection.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { EpochRows, type EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { adviceOn, type FaultKind, faultOf } from '#platform/fault/fault.js';
import { pendingMigrations, roleStanding } from '#platform/postgres/schemas.js';
import { POSTGRES_LEAST, POSTGRES_TESTED } from '#platform/postgres/pool.js';
import { ABSENT_AFTER_MS, missingRoles } from '#platform/time/heartbeat.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { MODULES } from '../../../service/src/modules.js';
import type { Config } from '../../../service/src/settings.js';
import { findMissingTables } from '../../../service/src/tables.js';
import { type Session, readConnection, withSession } from '../session.js';
import { keyOpens } from './keys.js';
import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { orderLineEvents } from '#billing/contracts/index.js';
import { isSetAside } from '#event-sourcing/core/event.js';
import { placeText, stoppedStreams, type StoppedStream } from '#event-sourcing/projections/parked-streams.js';
import { readSetAside } from '#event-sourcing/projections/set-aside.js';
import { consumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import { stuckJobs } from '#platform/jobs/job.js';
import { printable } from '#platform/text/printable.js';
import { FindOpenBatches } from '#readings/contracts/index.js';
import { ListWebhookEndpoints } from '#webhooks/contracts/index.js';
import { print } from '../output.js';
import { catalogueOf, ownerOf, parsePlace, problemOf, requireEvent, wayAround } from './events.js';
import { FIRST_READING, lostDocuments } from './publications.js';
import { isErased } from './readings.js';
import { BY_WORKERS_ALONE, LAGS_FROM_DAYS, retentionOfAll } from './retention.js';

export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** What to do; empty when the check passes. */
  readonly advice: string;
  /** Of a check that could not run: the kind of fault, such as `absent` or `table_missing`. */
  readonly cause?: FaultKind;
}

/** `check` only where it is another name than that of the check. */
type Verdict = Omit<Finding, 'check'> & Partial<Pick<Finding, 'check'>>;

export const ok = (message: string): Verdict => ({ level: 'ok', message, advice: '' });
const warning = (message: string, advice: string): Verdict => ({ level: 'warning', message, advice });
export const failure = (message: string, advice: string, cause?: FaultKind): Verdict => ({
  level: 'failure',
  message,
  advice,
  ...(cause && { cause }),
});

/** The two stores. A check that needs one says nothing new while that one does not work. */
type Store = 'postgres' | 'event store';

export interface Check {
  readonly name: string;
  readonly needs: readonly Store[];
  readonly run: (session: Session) => Promise<Verdict | readonly Verdict[]>;
}

export const check = (name: string, needs: readonly Store[], run: Check['run']): Check => {
  return { name, needs, run };
};

export const POSTGRES = ['postgres'] as const;
const EVENTS = ['event store'] as const;
export const BOTH = ['postgres', 'event store'] as const;

/** Ok below the first limit, a warning below the second, a failure at or above it. */
const graded = (
  value: number,
  [warnFrom, failFrom]: readonly [number, number],
  message: string,
  advice: string,
): Verdict => {
  if (value >= failFrom) return failure(message, advice);
  return value >= warnFrom ? warning(message, advice) : ok(message);
};

interface DatabaseFacts {
  readonly version: string;
  readonly number: number;
  readonly checksums: string;
  readonly size: string;
  readonly encoding: string;
  /** Version of the collation under which its indexes were made, and now. `null`: unknown, or one that never changes. */
  readonly sortedBy: string | null;
  readonly sortsBy: string | null;
}

export const checkPostgres = async (pool: Pool): Promise<Verdict> => {
  const { rows } = await pool.query<DatabaseFacts>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            current_setting('data_checksums') as checksums, pg_size_pretty(pg_database_size(oid)) as size,
            pg_encoding_to_char(encoding) as encoding, datcollversion as "sortedBy",
            pg_database_collation_actual_version(oid) as "sortsBy"
     from pg_database where datname = current_database()`,
  );
  const { version, number, checksums, size, encoding, sortedBy, sortsBy } = rows[0]!;
  const message = `PostgreSQL ${version}, database of ${size}`;
  if (number < POSTGRES_LEAST)
    return failure(`${message}, is too old`, adviceOn('unsupported'), 'unsupported');
  if (encoding !== 'UTF8')
    return failure(
      `${message}, in ${encoding}: it cannot store every text`,
      'Make a database with encoding UTF8, and restore a backup into it.',
    );
  if (sortedBy !== null && sortedBy !== sortsBy)
    return failure(
      `${message}, was made under version ${sortedBy} of its collation and sorts by ${sortsBy} now: indexes may miss rows, and unique ones admit doubles`,
      'Stop API and worker, then reindex the database and refresh its collation version (docs/runbook.md).',
    );
  if (checksums !== 'on')
    return warning(
      `${message}, without data checksums: it would not notice damaged bytes on its disk`,
      'Stop the server, run pg_checksums --enable on its data folder, and start it again.',
    );
  return number < POSTGRES_TESTED
    ? warning(message, 'The service is tested on PostgreSQL 18: plan an upgrade.')
    : ok(message);
};

export const checkEventStore = async (store: EventStore, { EVENTSTORE_URL }: Config): Promise<Verdict> => {
  const cluster = await askCluster(EVENTSTORE_URL);
  if (cluster && cluster.leader === null)
    return failure(
      `${describeCluster(cluster)}: there is no quorum, and nothing can be read or written`,
      'Start the missing nodes: more than half of them must reach each other.',
      'absent',
    );
  // The first call also loads the client and connects.
  await store.head();
  const startedAt = performance.now();
  const head = await store.head();
  const took = Math.round(performance.now() - startedAt);
  const message = [
    ...(cluster ? [describeCluster(cluster)] : []),
    `head at ${head ?? 'no event'}, answered in ${took} ms`,
  ].join(', ');
  if (cluster && cluster.silent.length > 0)
    return warning(message, 'Start the silent nodes: without more than half, nothing can be written.');
  const { usesTls, nodes } = readAddress(EVENTSTORE_URL);
  if (!usesTls)
    return warning(
      `${message}; without TLS and login`,
      'Anyone who reaches its port can append events: install certificates, then run ops event-store prepare (docs/operations.md).',
    );
  return nodes.some((node) => isIP(hostOf(node)) !== 0)
    ? warning(
        `${message}; EVENTSTORE_URL names an IP address`,
        'Node.js deprecates TLS to an IP address (DEP0123): use a host name that the certificate has.',
      )
    : ok(message);
};

/** Long enough for a busy node: one that is only slow must not be reported as absent. */
const ANSWER_WITHIN_MS = 5_000;

/** The nodes of a cluster, as they answer now; `null`: the address names one node. */
const askCluster = async (url: string) => {
  const address = readAddress(url);
  if (!address.isCluster) return null;
  const roles = await Promise.all(
    address.nodes.map(async (node) => ({ node, role: await roleOf(address, node) })),
  );
  const those = (wanted: boolean | null) =>
    roles.filter(({ role }) => (role?.leads ?? null) === wanted).map(({ node }) => node);
  const named = roles.flatMap(({ role }) => (role?.leads === false ? [role.leader] : []));
  const silent = those(null);
  const leader = those(true)[0] ?? named.find((node) => !silent.includes(node)) ?? null;
  return { leader, followers: those(false), silent };
};

/** `null`: it gives no answer. */
const roleOf = async (address: StoreAddress, node: string): Promise<Role | null> => {
  // Most commands start sooner without the client.
  const { askRole } = await import('#event-sourcing/store/connection.js');
  const { StoreClient } = await import('#event-sourcing/store/store-client.js');
  const client = new StoreClient(address, node);
  try {
    return await askRole(client, ANSWER_WITHIN_MS);
  } catch {
    return null;
  } finally {
    await client.close();
  }
};

const describeCluster = ({
  leader,
  followers,
  silent,
}: NonNullable<Awaited<ReturnType<typeof askCluster>>>) =>
  [
    leader === null ? 'no node leads' : `${leader} leads`,
    followers.length === 0 ? 'no followers' : `followers ${followers.join(', ')}`,
    ...(silent.length === 0 ? [] : [`no answer from ${silent.join(', ')}`]),
  ].join('; ');

const checkTables = async ({ pool, config }: Session): Promise<readonly Verdict[]> => {
  // Tables that are not made yet are a matter for the check of migrations.
  if ((await pendingMigrations(config.DATABASE_URL, MODULES)).length > 0) return [];
  const missing = await findMissingTables(pool);
  return missing.length === 0
    ? [ok('every table exists')]
    : [
        failure(
          `missing: ${missing.join(', ')}`,
          'docs/runbook.md, "Lost tables", says what brings each back.',
          'table_missing',
        ),
      ];
};

const checkClock = async (time: Pick<TrustedTime, 'compare'>): Promise<Verdict> => {
  const { level, message } = await time.compare();
  const said = message[0]!.toUpperCase() + message.slice(1);
  if (level === 'refused')
    return failure(
      said,
      'Correct that clock (NTP). Until then, processes that see the difference do no work that time causes, and change no credit book; then run ops ledger verify --all.',
    );
  if (level === 'unknown') return warning(said, 'The clocks are compared as soon as it answers.');
  return level === 'warning'
    ? warning(said, 'Synchronise the clocks (NTP) before work that time causes stops.')
    : ok(said);
};

/** An attacker inside the program gets the rights of its role, so the role should only read and write rows. */
const checkDatabaseRole = async (pool: Pool): Promise<Verdict> => {
  const { role, superuser, administrator, owner } = await roleStanding(pool, MODULES);
  const may = [
    ...(superuser ? ['is a superuser'] : []),
    ...(administrator && !superuser ? ['may create roles or databases'] : []),
    ...(owner && !superuser ? ['owns tables of the service'] : []),
  ];
  return may.length === 0
    ? ok(`${role} may only read and write rows`)
    : warning(
        `${role} ${may.join(' and ')}`,
        'Give the service a role of its own: ops database prepare, then ops migrate (docs/operations.md).',
      );
};

/** What a process has beside its pool: the connection on which it listens. */
const LISTENING = 1;
/** Share of the limit above which other clients of the server leave too little. */
const FULL = 0.9;

/**
 * Whether PostgreSQL takes as many connections as the running processes may open. The limit is the server's, the database's
 * or the role's, whichever is lowest. Other processes may have another DATABASE_POOL_SIZE.
 */
export const checkConnections = async (
  pool: Pick<Pool, 'query'>,
  { DATABASE_POOL_SIZE }: Pick<Config, 'DATABASE_POOL_SIZE'>,
): Promise<Verdict> => {
  const { rows } = await pool.query<Record<'server' | 'own' | 'open' | 'processes', number>>(
    `select server, least(server, (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
                          (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as own,
            (select sum(numbackends)::int from pg_stat_database) as open,
            (select count(*)::int from platform.heartbeat
             where beat_at > clock_timestamp() - make_interval(secs => $1)) as processes
     from (select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                    - coalesce(current_setting('reserved_connections', true)::int, 0) as server) limits`,
    [ABSENT_AFTER_MS / 1_000],
  );
  const { server, own, open, processes } = rows[0]!;
  const wanted = processes * (DATABASE_POOL_SIZE + LISTENING);
  const message = `${open} of ${server} are open; ${processes} processes may open ${wanted} of ${own}`;
  return wanted > own || open > FULL * server ? warning(message, adviceOn('overloaded')) : ok(message);
};

const checkMigrations = async ({ DATABASE_URL }: Config): Promise<Verdict> => {
  const pending = await pendingMigrations(DATABASE_URL, MODULES);
  return pending.length === 0
    ? ok('the schema matches this program')
    : failure(`not applied: ${pending.join(', ')}`, 'Run ops migrate.');
};

/** The operator learns of a lost key-encryption key before customers do. */
const checkKeys = async (pool: Pool, epochKeys: EpochKeys): Promise<Verdict> => {
  const { rows } = await pool.query<{ subject_id: string }>(
    `(select subject_id from platform.subject_key order by created_at limit 1)
     union (select subject_id from platform.subject_key order by created_at desc limit 1)`,
  );
  const keys = new SubjectKeys(pool, epochKeys);
  try {
    for (const { subject_id } of rows) await keys.find(subject_id);
  } catch (error) {
    return failure(
      `A sealed key cannot be opened: ${(error as Error).message}`,
      'Put the missing key back into ENCRYPTION_KEYS, or into KEY_DIRECTORY: ops keys status.',
    );
  }
  const { id } = await epochKeys.current();
  return ok(
    rows.length === 0
      ? `nothing is sealed yet; ${id} will seal new keys`
      : `the oldest and the newest seal open; ${id} seals new keys`,
  );
};

/**
 * An operator declared it lost while the wrong folder was mounted, or an old copy of the folder came back. Readings that it
 * wraps answer 410, and nothing else destroys it.
 */
export const checkDestroyedKeys = async (
  pool: Pool,
  keys: Pick<EpochKeys, 'store' | 'requireStore'>,
): Promise<Verdict> => {
  const names = new Set(await keys.store?.list());
  const found: string[] = [];
  for (const row of await new EpochRows(pool).all())
    if (row.provider === 'file' && row.destroyedAt !== null && names.has(row.epoch))
      if (await keyOpens(keys, row)) found.push(row.epoch);
  const [first] = found;
  if (first === undefined) return ok('no key that counts as destroyed is left');
  return failure(
    `KEY_DIRECTORY has keys that open, of epochs that count as destroyed: ${found.join(', ')}`,
    `Run ops keys remember ${first} --yes, and so for each: its readings open again, and workers destroy the key when it is due.`,
  );
};

/** The disk of the embedded stack's folder. Stores on other machines are not checked. */
const checkDisk = async ({ DISK_FOLDER: folder, DISK_RESERVE_MIB: reserve }: Config): Promise<Verdict> => {
  if (folder === undefined) return ok('not checked: DISK_FOLDER is not set');
  const { bsize, blocks, bavail } = await statfs(folder);
  const free = (bavail * bsize) / 2 ** 20;
  const message = `${Math.round((1 - bavail / blocks) * 100)} % used, ${Math.floor(free)} MiB free at ${folder}`;
  const advice = 'Free some space, or move DATA_DIR to a larger disk.';
  if (free < reserve)
    return failure(`${message}: new work is refused below ${reserve} MiB (DISK_RESERVE_MIB)`, advice);
  return free < 4 * reserve
    ? warning(`${message}; new work is refused below ${reserve} MiB`, advice)
    : ok(message);
};

export const STORES: readonly Check[] = [
  check('postgres', POSTGRES, ({ pool }) => checkPostgres(pool)),
  check('event store', EVENTS, ({ store, config }) => checkEventStore(store, config)),
];

const STORE_CHECKS: readonly Check[] = [
  // The first: checks that lack a table share its finding.
  check('tables', POSTGRES, checkTables),
  check('clock', POSTGRES, ({ time }) => checkClock(time)),
  check('database role', POSTGRES, ({ pool }) => checkDatabaseRole(pool)),
  check('connections', POSTGRES, ({ pool, config }) => checkConnections(pool, config)),
  check('migrations', POSTGRES, ({ config }) => checkMigrations(config)),
  check('encryption keys', POSTGRES, ({ pool, keys }) => checkKeys(pool, keys)),
  check('destroyed keys', POSTGRES, ({ pool, keys }) => checkDestroyedKeys(pool, keys)),
];

const DISK: Check = check('disk', [], ({ config }) => checkDisk(config));

/** Longest wait for one check. */
const CHECK_WITHIN_MS = 10_000;

export const CHECKS: readonly Check[] = [
  ...STORE_CHECKS,
  // A worker that does not reach the event store sends no heartbeat.
  check('workers', BOTH, ({ pool }) => checkWorkers(pool)),
  check('lag', BOTH, (session) => checkLag(session)),
  check('parked streams', POSTGRES, (session) => checkParked(session)),
  check('set aside', EVENTS, (session) => checkSetAside(session)),
  check('order lines', EVENTS, ({ store }) => checkOrderLines(store)),
  check('jobs', POSTGRES, ({ pool, time }) => checkJobs(pool, time)),
  check('deliveries', POSTGRES, (session) => checkDeliveries(session)),
  check('batches', BOTH, ({ queries, config }) => checkBatches(queries, config.READING_TIMEOUT_MS)),
  check('retention', POSTGRES, (session) => checkRetention(session)),
  check('documents', POSTGRES, ({ pool }) => checkDocuments(pool)),
  check('publications', POSTGRES, ({ pool, time }) => checkPublications(pool, time)),
  check('keys of readings', BOTH, (session) => checkKeysOfReadings(session)),
  check('webhook secrets', POSTGRES, ({ pool }) => checkSecrets(pool)),
  DISK,
];

const addDoctorCommand = (doctor: Command): void => {
  doctor
    .addHelpText('after', '\nExample:\n  ops doctor --json | jq .failures')
    .action(async (_: object, command: Command) => {
      // Missing settings are reported as such, not as a failed check.
      readConnection(process.env);
      const findings = await withSession((session) => examineAll(session));
      const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
      const [failures, warnings] = [count('failure'), count('warning')];
      const text = [...findings.map(line), '', `${failures} failures, ${warnings} warnings`];
      print(command, { healthy: failures === 0, failures, warnings, findings }, text, failures > 0);
    });
};

/** One cause is one finding: checks that need a store which does not work, or lack the same table, are named in one. */
export const examineAll = async (
  session: Session,
  stores: readonly Check[] = STORES,
  checks: readonly Check[] = CHECKS,
): Promise<readonly Finding[]> => {
  const known = await Promise.all(stores.map((store) => examine(store, session)));
  const isBroken = (findings: readonly Finding[]): boolean =>
    findings.some(({ level, cause }) => level === 'failure' && cause !== undefined);
  const broken = stores.filter((_, index) => isBroken(known[index]!)).map(({ name }) => name);
  const skipped = checks.filter(({ needs }) => needs.some((store) => broken.includes(store)));
  const found = await Promise.all(
    checks.filter((one) => !skipped.includes(one)).map((one) => examine(one, session)),
  );
  const unchecked = warning(
    skipped.map(({ name }) => name).join(', '),
    `Needs ${broken.join(' and ')}: solve that first, then run ops doctor again.`,
  );
  return [
    ...known.flat(),
    ...mergedCauses(found.flat()),
    ...(skipped.length > 0 ? [{ check: 'not checked', ...unchecked }] : []),
  ];
};

class TooLate extends Error {}

/** A check that cannot run has failed; the others still run. A check that needs no store cannot find its fault. */
const examine = async ({ name, needs, run }: Check, session: Session): Promise<readonly Finding[]> => {
  const tooLate = (): never => {
    throw new TooLate(`no answer within ${CHECK_WITHIN_MS} ms`);
  };
  const verdictOf = (error: unknown): Verdict => {
    const message = error instanceof Error ? error.message : 'failed';
    if (error instanceof TooLate)
      return failure(message, adviceOn('absent'), needs.length > 0 ? 'absent' : undefined);
    const fault = needs.length > 0 ? faultOf(error) : null;
    if (fault) return failure(fault.message, fault.advice, fault.kind);
    return failure(
      `cannot be checked: ${message}`,
      'If the message does not say what to do, report it with the output of ops doctor --json.',
    );
  };
  const found = await withDeadline(CHECK_WITHIN_MS, async () => run(session), tooLate).catch(verdictOf);
  return [found].flat().map((verdict) => ({ check: name, ...verdict }));
};

/** The check of tables names all of what others meet in part. */
const covers = (whole: Finding, part: Finding): boolean =>
  whole.check.startsWith('tables') && part.message.startsWith('PostgreSQL lacks a table');

/** Joins findings with one cause under the names of their checks. */
const mergedCauses = (findings: readonly Finding[]): readonly Finding[] =>
  findings.reduce<readonly Finding[]>((kept, finding) => {
    const { cause, message } = finding;
    const same = kept.findIndex(
      (one) =>
        cause !== undefined && one.cause === cause && (one.message === message || covers(one, finding)),
    );
    return same === -1
      ? [...kept, finding]
      : kept.with(same, { ...kept[same]!, check: `${kept[same]!.check}, ${finding.check}` });
  }, []);

const MARKS: Readonly<Record<Finding['level'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failure: 'FAILURE',
};

const line = ({ check: name, level, message, advice }: Finding): string =>
  `${MARKS[level]}  ${name}: ${printable(message)}${advice && `\n         → ${advice}`}`;

export const checkWorkers = async (pool: Pool): Promise<Verdict> => {
  const { rows } = await pool.query<{ alive: number }>(
    `select count(*)::int as alive from platform.heartbeat
     where role = 'worker' and beat_at > clock_timestamp() - make_interval(secs => $1)`,
    [ABSENT_AFTER_MS / 1_000],
  );
  const alive = rows[0]!.alive;
  if (alive === 0)
    return failure(
      `no heartbeat for ${ABSENT_AFTER_MS / 1_000} s`,
      'Start a worker: without one, no reading is calculated and no webhook sent.',
    );
  const missing = await missingRoles(pool);
  return missing.length === 0
    ? ok(`${alive} alive`)
    : failure(
        `${alive} alive, none with the role ${missing.join(' or ')}`,
        'Start a worker that has it in WORKER_ROLES: its work waits meanwhile.',
      );
};

/** Age of the oldest unhandled event (seconds). */
const LAG_SECONDS = [10, 120] as const;

const checkLag = async ({ pool, store }: Session): Promise<readonly Verdict[]> => {
  const lags = await consumerLag(pool, store);
  if (lags.length === 0) return [warning('no consumer has ever run', 'Start a worker.')];
  return lags.map(({ consumer, position, events, atLeast, seconds, status, error }) => {
    const verdict =
      status === 'beyond_the_log'
        ? failure(
            `its checkpoint ${position} is beyond the end of the log, or of another one`,
            'PostgreSQL is newer than the event store, and new work is refused. Restore a newer copy of the event store, if there is one. Otherwise: ops projections replay --all --accept-differences "…"',
          )
        : status === 'halted'
          ? failure(`halted at ${error}`, wayOutOfHalt(consumer, error ?? ''))
          : graded(
              seconds,
              LAG_SECONDS,
              events === 0
                ? 'caught up'
                : `${events}${atLeast ? ' or more' : ''} events, ${seconds.toFixed(1)} s`,
              'Is a worker running and keeping up? See its log; ops projections lag shows whether the lag shrinks.',
            );
    return { ...verdict, check: `lag of ${consumer}` };
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
const checkParked = async ({ pool, store }: Session): Promise<readonly Verdict[]> => {
  const parked = (await stoppedStreams(pool)).filter(({ state }) => state === 'parked');
  if (parked.length === 0) return [ok('none')];
  const causes = [...new Set(parked.map(({ cause }) => cause))].slice(0, MOST);
  const of = (cause: string) => parked.filter((one) => one.cause === cause);
  return Promise.all(causes.map((cause) => parkedBecause(store, cause, of(cause))));
};

/** What a view of money says when its row was deleted. */
const MISSING_ROW = 'is missing: replay';

const parkedBecause = async (
  store: EventStore,
  cause: string,
  parked: readonly StoppedStream[],
): Promise<Verdict> => {
  const event = await requireEvent(store, parsePlace(cause)).catch(() => null);
  const problem =
    event && catalogueOf(event.stream) ? problemOf(event, await ownerOf(store, event.stream)) : null;
  const first = parked.find(({ error }) => !error.startsWith('waits for ')) ?? parked[0]!;
  const consumers = [...new Set(parked.map(({ consumer }) => consumer))].toSorted().join(', ');
  const streams = new Set(parked.map(({ stream }) => stream)).size;
  return failure(
    `${cause}${event ? ` (${event.type})` : ''} keeps ${streams} stream${streams === 1 ? '' : 's'} parked in ${consumers}: ${problem ?? first.error}`,
    problem !== null
      ? `Deploy a version that can read it, and it is handled by itself. If none will: ${wayAround(cause)}`
      : first.error.includes(MISSING_ROW)
        ? `ops projections replay ${first.consumer} --stream ${first.stream}`
        : `Fix the cause, and it is handled by itself; ops parked retry ${first.consumer} does so at once.`,
  );
};

const checkSetAside = async ({ store }: Session): Promise<readonly Verdict[]> => {
  const register = await readSetAside(store);
  const unreadable = register.unreadable().slice(0, MOST);
  return [
    ok(`readers pass over ${register.all().length} events`),
    ...unreadable.map((entry) => {
      const said = `${placeText(entry)} (${entry.type}) is no decision and has no effect`;
      return failure(said, wayAround(placeText(entry)));
    }),
  ];
};

/** Shorter than the doctor's wait for a check. */
const READ_WITHIN_MS = 5_000;

/** No consumer follows order lines, so nothing is parked. Reads the newest first, and stops after a while. */
const checkOrderLines = async (store: EventStore): Promise<readonly Verdict[]> => {
  const giveUpAt = performance.now() + READ_WITHIN_MS;
  const categories = [orderLineEvents.category];
  const found: Verdict[] = [];
  let [count, isWhole] = [0, true];
  for await (const event of store.readAll({ direction: 'backwards', categories })) {
    count += 1;
    // A line is one event. Only a further one can be of another workspace than the first.
    const owner = event.revision > 0n ? await ownerOf(store, event.stream) : '';
    const problem = isSetAside(event) ? null : problemOf(event, owner);
    if (problem !== null)
      found.push(
        failure(
          `${placeText(event)} (${event.type}) cannot be read, so its pack can be neither added nor refunded: ${problem}`,
          `Deploy a version that can read it. If none will: ${wayAround(placeText(event))}`,
        ),
      );
    isWhole = performance.now() < giveUpAt;
    if (!isWhole || found.length === MOST) break;
  }
  return found.length > 0 ? found : [ok(`${isWhole ? 'all' : 'the newest'} ${count} can be read`)];
};

/** Age of the oldest job, and of the oldest delivery, that could be done now (seconds). */
const DUE_SECONDS = [60, 300] as const;

/** While the clocks differ, PostgreSQL's may be the wrong one: the finding is that of the clock. */
const NOT_JUDGED = ok('not judged while the clocks differ');

const checkJobs = async (pool: Pool, time: Pick<TrustedTime, 'isTrusted'>): Promise<Verdict> => {
  if (!(await time.isTrusted())) return NOT_JUDGED;
  const { dead, failing, oldest } = await stuckJobs(pool);
  const message = `${dead} out of attempts, ${failing} failing, the oldest due for ${oldest} s`;
  const advice =
    'The worker’s log has the errors. Jobs of readings and replays are added again automatically.';
  const wanted = `Is a worker with the role jobs running, with enough WORKER_CONCURRENCY? ${advice}`;
  const late = graded(oldest, DUE_SECONDS, message, wanted);
  return late.level === 'ok' && dead + failing > 0 ? warning(message, advice) : late;
};

export const checkDeliveries = async ({ queries }: Pick<Session, 'queries'>): Promise<Verdict> => {
  const endpoints = await queries.execute(new ListWebhookEndpoints(null, null));
  const sending = endpoints.filter(({ endpoint }) => ['ok', 'failing'].includes(endpoint.health.state));
  const oldest = Math.max(0, ...sending.map(({ queueAgeSeconds }) => queueAgeSeconds));
  return graded(
    oldest,
    DUE_SECONDS,
    oldest === 0 ? 'none is due' : `the oldest has been due for ${oldest} s`,
    'Is a worker with the role webhooks running and keeping up? ops webhooks health has more.',
  );
};

/** A batch is looked at at least once an hour. */
const LOOKED_AT_WITHIN_MS = 3_600_000;

/** Batches whose customers wait in vain for `batch.ended`: a reading of theirs does not end. */
export const checkBatches = async (
  queries: Session['queries'],
  readingTimeoutMs: number,
): Promise<Verdict> => {
  const { count, oldest } = await queries.execute(
    new FindOpenBatches(readingTimeoutMs + 2 * LOOKED_AT_WITHIN_MS),
  );
  if (oldest === null) return ok('none open for longer than its readings may take');
  const { batchId, workspaceId, waitsFor } = oldest;
  const [first] = waitsFor;
  const cause = first === undefined ? 'although all its readings have' : `because reading ${first} has not`;
  return warning(
    `${count} have not ended, such as ${batchId} of ${workspaceId}, ${cause}`,
    first === undefined
      ? 'No worker runs its job: see the findings about workers and jobs.'
      : `ops streams show reading-${first} and publication-${first} say where it stopped.`,
  );
};

/** Data that has outlived its term by so many days breaks a promise. */
const FAILS_FROM_DAYS = 7;

/** @param now milliseconds since the epoch */
export const checkRetention = async (
  session: Pick<Session, 'pool' | 'config' | 'queries'>,
  now = Date.now(),
): Promise<readonly Verdict[]> => {
  const all = await retentionOfAll(session, now);
  const waiting = all.find(({ waitsSince }) => waitsSince !== null);
  const found = waiting
    ? [
        warning(
          `workers delete nothing after its term: the last round was at ${waiting.waitsSince}`,
          'No worker ran, or the clock jumped ahead. When the clock is right, look at ops retention status; ops retention run lets workers continue.',
        ),
      ]
    : [];
  if (all.some(({ lagDays }) => lagDays >= LAGS_FROM_DAYS))
    for (const { kind, what, setting, days, lagDays, due } of all.filter((one) => one.lagDays > 0))
      found.push(
        graded(
          lagDays,
          [LAGS_FROM_DAYS, FAILS_FROM_DAYS],
          `${kind} (${what}) are ${lagDays} days behind ${setting ?? 'their term'} (${days}): ${due.rows} rows are due`,
          `A worker with the role upkeep deletes them; its log says why it does not.${
            BY_WORKERS_ALONE.includes(kind) ? '' : ' ops retention run does it now.'
          }`,
        ),
      );
  return found.length > 0 ? found : [ok('nothing is kept longer than its term')];
};

/** Readings compared in one run. A service with more gets another part of them each time. */
const LOOKED_AT = 20_000;

export const checkDocuments = async (pool: Pool, mostLookedAt = LOOKED_AT): Promise<Verdict> => {
  const all = await lostDocuments(pool, FIRST_READING, mostLookedAt);
  const seen = all.last === null ? all : await lostDocuments(pool, randomUUID(), mostLookedAt);
  const lost = new Set([...all.lost, ...seen.lost].map(({ readingId }) => readingId));
  const [first] = lost;
  if (first === undefined)
    return ok(all.last === null ? 'all formats are stored' : 'those looked at have all formats');
  return failure(
    `${lost.size} readings lack a published document, such as ${first}: rows were deleted`,
    'ops publications remake --all shows which can be made again with the same bytes; add --yes.',
  );
};

/** How long after the time at which its job counts as lost a document is late. Seconds. */
const LATE_SECONDS = 600;

/** Documents of completed readings that are not made: nobody else says so, because their jobs are neither lost nor due. */
export const checkPublications = async (
  pool: Pick<Pool, 'query'>,
  time: Pick<TrustedTime, 'isTrusted'>,
): Promise<readonly Verdict[]> => {
  if (!(await time.isTrusted())) return [NOT_JUDGED];
  // The jobs of those that were given up have ended. Those of erased readings have no key.
  const { rows } = await pool.query<{ late: number; latest: string | null; failed: number; first: string }>(
    `select late, latest, failed, first
     from (select count(*)::int as late, (array_agg(reading_id::text order by due_at))[1] as latest
           from (select reading_id, due_at from publishing.publication
                 union all select reading_id, due_at from publishing.republication) as due
           where due_at < now() - make_interval(secs => $1)) as waiting,
          (select count(*)::int as failed, min(reading_id::text) as first
           from publishing.publication join platform.subject_key on subject_id = reading_id
           where due_at is null and published_at is null) as given_up`,
    [LATE_SECONDS],
  );
  const { late, latest, failed, first } = rows[0]!;
  const minutes = LATE_SECONDS / 60;
  return [
    late === 0
      ? ok(`none is more than ${minutes} minutes late`)
      : failure(
          `${late} documents are more than ${minutes} minutes late, such as that of reading ${latest}`,
          'If the worker’s log says that a document cannot be made, a version of the service that can makes it within an hour. Otherwise see the findings about workers, lag and jobs.',
        ),
    ...(failed > 0
      ? [
          warning(
            `${failed} documents were given up, such as that of reading ${first}: each ended three workers`,
            'The worker’s log has more. The credits of live readings come back by themselves; ops readings unreadable shows which did.',
          ),
        ]
      : []),
  ];
};

/** Readings whose stream is read, because they may have been erased a moment ago. */
const ASKED = 10;

/** Keys of readings that events say exist and PostgreSQL lacks: it lost its last commits, or rows were deleted. */
const checkKeysOfReadings = async ({ pool, store }: Session): Promise<Verdict> => {
  const first = await keyless(pool, FIRST_READING);
  const lost = first.length > 0 ? first : await keyless(pool, randomUUID());
  // An erasure destroys the key first, and shows in the row a moment later.
  const asked = lost.slice(0, ASKED);
  const erased = await Promise.all(asked.map((readingId) => isErased(store, readingId)));
  const one = asked.find((_, index) => !erased[index]);
  return one === undefined
    ? ok('the readings looked at have their keys')
    : failure(
        `${lost.length} readings that nobody erased lack their key, such as ${one}: nobody can read them`,
        'Wait until ops projections lag shows nothing. ops readings unreadable lists those that were paid; ops readings refund --all proposes their refund.',
      );
};

/** A queued reading fails by itself, and a failed one has nothing to read. */
const keyless = async (pool: Pool, after: string): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ reading_id: string }>(
    `select reading_id
     from (select reading_id, status, erased_at from readings.reading
           where reading_id > $1 order by reading_id limit ${LOOKED_AT}) as page
     where status = 'completed' and erased_at is null
       and not exists (select from platform.subject_key where subject_id = page.reading_id)`,
    [after],
  );
  return rows.map(({ reading_id: readingId }) => readingId);
};

/** Signing secrets of endpoints that PostgreSQL lost in the same way. */
const checkSecrets = async (pool: Pool): Promise<Verdict> => {
  const { rows } = await pool.query<{ endpoint_id: string; workspace_id: string }>(
    `select endpoint_id, workspace_id from webhooks.endpoint
     where deleted_at is null and not exists (
       select from webhooks.secret where secret.secret_ref = (endpoint.secrets -> 0 ->> 'ref')::uuid)
     limit 100`,
  );
  const [one] = rows;
  return one === undefined
    ? ok('every endpoint has its secret')
    : failure(
        `${rows.length} endpoints lack their signing secret, such as ${one.endpoint_id} of ${one.workspace_id}: nothing is sent there`,
        'Ask the customer to rotate the secret (POST /api/v1/webhooks/{endpointId}/rotate-secret): what waits is then sent.',
      );
};

export const commands = { doctor: addDoctorCommand };
