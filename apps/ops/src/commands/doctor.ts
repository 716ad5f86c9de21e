import type { Command } from 'commander';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import { ADVICE, faultOf } from '#platform/fault/fault.js';
import { printable } from '#platform/text/printable.js';
import { readConnection } from '../connection.js';
import { print } from '../output.js';
import { withSession, type Session } from '../session.js';
import {
  checkClock,
  checkDatabaseRole,
  checkDisk,
  checkEventStore,
  checkKeys,
  checkMigrations,
  checkPostgres,
} from './doctor/dependencies.js';
import { checkConnections } from './doctor/connections.js';
import { checkCertificates } from './doctor/certificates.js';
import { checkBatches } from './doctor/batches.js';
import { checkBalances } from './doctor/balances.js';
import { checkDestroyedKeys } from './doctor/destroyed-keys.js';
import { checkDocuments } from './doctor/documents.js';
import { failure, warning, type Finding } from './doctor/finding.js';
import { checkIssuerKeys } from './doctor/issuer-keys.js';
import { checkOrderLines } from './doctor/order-lines.js';
import { checkLostRows } from './doctor/lost-rows.js';
import { checkPublications } from './doctor/publications.js';
import { checkRetention } from './doctor/retention.js';
import { checkSessions } from './doctor/sessions.js';
import { checkStandby } from './doctor/standby.js';
import { checkStoreFile } from './doctor/store-file.js';
import { checkTables } from './doctor/tables.js';
import {
  checkDeliveries,
  checkHolds,
  checkJobs,
  checkLag,
  checkParked,
  checkSetAside,
  checkWorkers,
} from './doctor/work.js';

/** Longest wait for one check. */
const CHECK_WITHIN_MS = 10_000;

/** The two stores. A check that needs one says nothing new while that one does not work. */
type Store = 'postgres' | 'event store';

export interface Check {
  readonly name: string;
  readonly needs: readonly Store[];
  readonly run: (session: Session) => Promise<Finding | readonly Finding[]>;
}

export const STORES: readonly Check[] = [
  { name: 'postgres', needs: ['postgres'], run: ({ pool }) => checkPostgres(pool) },
  { name: 'event store', needs: ['event store'], run: ({ store, config }) => checkEventStore(store, config) },
];

export const CHECKS: readonly Check[] = [
  // The first two: checks that meet damage or lack a table share their findings.
  {
    name: 'event store file',
    needs: [],
    run: ({ config }) => checkStoreFile(process.env, config.EVENTSTORE_URL),
  },
  { name: 'tables', needs: ['postgres', 'event store'], run: checkTables },
  { name: 'clock', needs: ['postgres'], run: ({ time }) => checkClock(time) },
  {
    name: 'certificates',
    needs: [],
    run: ({ config }) => checkCertificates(config, Date.now()),
  },
  { name: 'database role', needs: ['postgres'], run: ({ pool }) => checkDatabaseRole(pool) },
  { name: 'connections', needs: ['postgres'], run: ({ pool, config }) => checkConnections(pool, config) },
  { name: 'sessions', needs: ['postgres'], run: ({ pool }) => checkSessions(pool) },
  { name: 'standby', needs: ['postgres'], run: ({ pool, config }) => checkStandby(pool, config) },
  { name: 'migrations', needs: ['postgres'], run: ({ config }) => checkMigrations(config) },
  { name: 'encryption keys', needs: ['postgres'], run: ({ pool, keys }) => checkKeys(pool, keys) },
  { name: 'destroyed keys', needs: ['postgres'], run: ({ pool, keys }) => checkDestroyedKeys(pool, keys) },
  { name: 'bearer tokens', needs: [], run: checkIssuerKeys },
  // A worker that does not reach the event store sends no heartbeat.
  { name: 'workers', needs: ['postgres', 'event store'], run: ({ pool }) => checkWorkers(pool) },
  { name: 'lag', needs: ['postgres', 'event store'], run: checkLag },
  { name: 'parked streams', needs: ['postgres'], run: checkParked },
  { name: 'set aside', needs: ['event store'], run: checkSetAside },
  { name: 'order lines', needs: ['event store'], run: ({ store }) => checkOrderLines(store) },
  { name: 'jobs', needs: ['postgres'], run: ({ pool, time }) => checkJobs(pool, time) },
  { name: 'deliveries', needs: ['postgres'], run: checkDeliveries },
  { name: 'balances', needs: ['postgres', 'event store'], run: checkBalances },
  { name: 'holds', needs: ['postgres'], run: checkHolds },
  { name: 'batches', needs: ['postgres', 'event store'], run: checkBatches },
  { name: 'retention', needs: ['postgres'], run: (session) => checkRetention(session) },
  { name: 'documents', needs: ['postgres'], run: ({ pool }) => checkDocuments(pool) },
  { name: 'publications', needs: ['postgres'], run: ({ pool, time }) => checkPublications(pool, time) },
  { name: 'lost rows', needs: ['postgres', 'event store'], run: (session) => checkLostRows(session) },
  { name: 'disk', needs: [], run: ({ config }) => checkDisk(config) },
];

export const addDoctorCommand = (doctor: Command): void => {
  doctor
    .addHelpText('after', '\nExamples:\n  ops doctor\n  ops doctor --json | jq .failures')
    .action(async (_: object, command: Command) => {
      // Missing settings are reported as such, not as a failed check.
      readConnection(process.env);
      const findings = await withSession((session) => examineAll(session));
      const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
      const [failures, warnings] = [count('failure'), count('warning')];
      const text = [...findings.map(line), '', `${failures} failures, ${warnings} warnings`].join('\n');
      print(command, { healthy: failures === 0, failures, warnings, findings }, text);
      if (failures > 0) process.exitCode = 1;
    });
};

/**
 * One cause is one finding: checks that need a store which does not work are named in a single line. Checks of
 * PostgreSQL that lack the same table share their finding as well.
 */
export const examineAll = async (
  session: Session,
  stores: readonly Check[] = STORES,
  checks: readonly Check[] = CHECKS,
): Promise<readonly Finding[]> => {
  const known = await Promise.all(stores.map((store) => examine(store, session)));
  const broken = new Set(stores.filter((_, index) => isBroken(known[index]!)).map(({ name }) => name));
  const skipped = checks.filter(({ needs }) => needs.some((store) => broken.has(store)));
  const found = await Promise.all(
    checks.filter((check) => !skipped.includes(check)).map((check) => examine(check, session)),
  );
  return [
    ...known.flat(),
    ...mergedCauses(found.flat()),
    ...(skipped.length === 0
      ? []
      : [
          warning(
            'not checked',
            skipped.map(({ name }) => name).join(', '),
            `Needs ${[...broken].join(' and ')}: solve that first, then run ops doctor again.`,
          ),
        ]),
  ];
};

const isBroken = (findings: readonly Finding[]): boolean =>
  findings.some(({ level, cause }) => level === 'failure' && cause !== undefined);

class TooLate extends Error {}

/** A check that cannot run has failed; the others still run. A check that needs no store cannot find its fault. */
const examine = async ({ name, needs, run }: Check, session: Session): Promise<readonly Finding[]> => {
  const tooLate = (): never => {
    throw new TooLate(`no answer within ${CHECK_WITHIN_MS} ms`);
  };
  try {
    return [await withDeadline(CHECK_WITHIN_MS, async () => run(session), tooLate)].flat();
  } catch (error) {
    const message = error instanceof Error ? error.message : 'failed';
    if (error instanceof TooLate)
      return [{ ...failure(name, message, ADVICE.absent), ...(needs.length > 0 && { cause: 'absent' }) }];
    const fault = needs.length > 0 ? faultOf(error) : null;
    if (fault) return [{ ...failure(name, fault.message, fault.advice), cause: fault.kind }];
    return [
      failure(
        name,
        `cannot be checked: ${message}`,
        'If the message does not say what to do, report it with the output of ops doctor --json.',
      ),
    ];
  }
};

/** Checks that name all of what others meet in part, with how the findings of those begin. */
const WHOLE: readonly (readonly [check: string, met: string])[] = [
  ['event store file', 'the event store has damaged data'],
  ['tables', 'PostgreSQL lacks a table'],
];
const covers = (whole: Finding, part: Finding): boolean =>
  WHOLE.some(([check, met]) => whole.check.startsWith(check) && part.message.startsWith(met));

/** Joins findings with one cause under the names of their checks. */
const mergedCauses = (findings: readonly Finding[]): readonly Finding[] =>
  findings.reduce<readonly Finding[]>((kept, finding) => {
    const { cause, message, check } = finding;
    const same = kept.findIndex(
      (one) =>
        cause !== undefined && one.cause === cause && (one.message === message || covers(one, finding)),
    );
    return same === -1
      ? [...kept, finding]
      : kept.with(same, { ...kept[same]!, check: `${kept[same]!.check}, ${check}` });
  }, []);

const MARKS: Readonly<Record<Finding['level'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failure: 'FAILURE',
};

const line = ({ check, level, message, advice }: Finding): string =>
  `${MARKS[level]}  ${check}: ${printable(message)}${advice && `\n         → ${advice}`}`;
