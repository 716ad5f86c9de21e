import type { Command } from 'commander';
import { withDeadline } from '@app/event-sourcing/timing/deadline.js';
import { printable } from '@app/platform/text/printable.js';
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
import { failure, type Finding } from './doctor/finding.js';
import { checkIssuerKeys } from './doctor/issuer-keys.js';
import {
  checkHolds,
  checkJobs,
  checkLag,
  checkParked,
  checkQuarantines,
  checkWorkers,
} from './doctor/work.js';

/** Longest wait for one check. */
const CHECK_WITHIN_MS = 10_000;
const UNREACHABLE = 'Is it running, and is its address right (DATA_DIR, or DATABASE_URL and EVENTSTORE_URL)?';

type Check = readonly [name: string, run: (session: Session) => Promise<Finding | readonly Finding[]>];

const CHECKS: readonly Check[] = [
  ['postgres', ({ pool }) => checkPostgres(pool)],
  ['event store', ({ store, config }) => checkEventStore(store, config)],
  ['clock', ({ pool }) => checkClock(pool)],
  ['database role', ({ pool }) => checkDatabaseRole(pool)],
  ['migrations', ({ config }) => checkMigrations(config)],
  ['encryption keys', ({ pool, keys }) => checkKeys(pool, keys)],
  ['bearer tokens', checkIssuerKeys],
  ['workers', ({ pool, config }) => checkWorkers(pool, config.READINESS_WORKER_MS)],
  ['lag', (session) => checkLag(session)],
  ['parked streams', (session) => checkParked(session)],
  ['quarantine', (session) => checkQuarantines(session)],
  ['jobs', ({ pool }) => checkJobs(pool)],
  ['holds', (session) => checkHolds(session)],
  ['disk', () => checkDisk(process.env)],
];

export const addDoctorCommand = (doctor: Command): void => {
  doctor
    .addHelpText('after', '\nExamples:\n  ops doctor\n  ops doctor --json | jq .failures')
    .action(async (_: object, command: Command) => {
      // Missing settings are reported as such, not as a failed check.
      readConnection(process.env);
      const findings = await withSession(async (session) =>
        (await Promise.all(CHECKS.map((check) => examine(check, session)))).flat(),
      );
      const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
      const [failures, warnings] = [count('failure'), count('warning')];
      const text = [...findings.map(line), '', `${failures} failures, ${warnings} warnings`].join('\n');
      print(command, { healthy: failures === 0, failures, warnings, findings }, text);
      if (failures > 0) process.exitCode = 1;
    });
};

/** A check that cannot run has failed; the others still run. */
const examine = async ([name, run]: Check, session: Session): Promise<readonly Finding[]> => {
  const tooLate = (): never => {
    throw new Error(`no answer within ${CHECK_WITHIN_MS} ms`);
  };
  try {
    return [await withDeadline(CHECK_WITHIN_MS, async () => run(session), tooLate)].flat();
  } catch (error) {
    return [failure(name, error instanceof Error ? error.message : 'failed', UNREACHABLE)];
  }
};

const MARKS: Readonly<Record<Finding['level'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failure: 'FAILURE',
};

const line = ({ check, level, message, advice }: Finding): string =>
  `${MARKS[level]}  ${check}: ${printable(message)}${advice && `\n         → ${advice}`}`;
