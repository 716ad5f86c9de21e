import { setTimeout as delay } from 'node:timers/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder } from '../../../apps/embedded/src/data-folder.js';
import {
  childEnvironment,
  loadSecrets,
  withoutOperatorsSecrets,
} from '../../../apps/embedded/src/secrets.js';
import { removeDataFolder, temporaryDataDir } from '../../support/data-dir.js';
import { Integrator, person, until } from '../../support/integrator.js';
import { OpsProcess } from '../../support/ops-process.js';
import { PATIENT } from '../../support/patience.js';
import { startPostgres } from '../../support/start-postgres.js';
import { type StartedProcess, startProcess } from '../../support/start-processes.js';
import type { Stack } from '../../support/start-stack.js';
import { connect, fillBook, ledgerOn } from '../billing/books.js';
import { serveStore } from '../processes.js';

/** One row of the table that `npm run recovery` prints. */
export interface Recovery {
  readonly fault: string;
  /** What had to succeed again, such as `a POST` or `a reading`. */
  readonly measured: string;
  /** From the fault until it succeeded again. */
  readonly seconds: number;
  /** Of these, until the other side could serve again. `null`: it could all the time, or nobody knows. */
  readonly otherSide: number | null;
  /** For as long, calls failed: an API answered 503, or none answered. */
  readonly failing: number;
}

/** A kind of faults, and what suffers them. */
export interface FaultKind {
  /** Its name on the command line. */
  readonly name: string;
  /** Starts what it needs. @returns why it is left out, where this machine lacks something */
  start(): Promise<
    | {
        readonly works: Works;
        readonly faults: readonly Measured[];
        /** Stops what was started, one after the other. */
        readonly stop: readonly (() => unknown)[];
      }
    | string
  >;
}

/** The other side serves again after this time. */
export const after = (milliseconds: number, mend: () => unknown) => async (): Promise<number> => {
  await delay(milliseconds);
  mend();
  return milliseconds / 1_000;
};

const EVERY_MS = 50;
/** The recovery is over after a second in which all calls succeeded. */
const QUIET_MS = 1_000;
const GIVEN_UP_AFTER_MS = 180_000;

interface Call {
  readonly begunAt: number;
  endedAt: number | null;
  failed: boolean;
}

/**
 * Calls `work` at this interval (ms), however long calls take, and inflicts the fault.
 * @param mayEnd whether the fault is over
 * @returns seconds from the fault until the end of the first call that succeeded after the last one that failed, and
 *   seconds of calls that failed
 * @throws Error when calls still fail after three minutes
 */
const recoveryAfter = async (
  work: () => Promise<unknown>,
  inflict: () => Promise<void> | void,
  everyMs = EVERY_MS,
  mayEnd = (): boolean => true,
): Promise<Pick<Recovery, 'seconds' | 'failing'>> => {
  const enough = Math.ceil(QUIET_MS / everyMs);
  await secondsUntil(async () => (await work(), true));
  const faultAt = performance.now();
  await inflict();
  const calls: Call[] = [];
  const open = new Set<Promise<void>>();
  do {
    while (!mayEnd() || !isOver(calls, enough)) {
      if (performance.now() - faultAt > GIVEN_UP_AFTER_MS)
        throw new Error('Calls still fail after three minutes');
      const call: Call = { begunAt: performance.now(), endedAt: null, failed: false };
      calls.push(call);
      const made: Promise<void> = work()
        .catch(() => void (call.failed = true))
        .then(() => void (call.endedAt = performance.now()))
        .finally(() => open.delete(made));
      open.add(made);
      await delay(everyMs);
    }
    await Promise.all(open);
    // A slow one may have failed.
  } while (!isOver(calls, enough));
  const failed = calls.filter((call) => call.failed);
  const lastFailed = Math.max(-Infinity, ...failed.map(({ begunAt }) => begunAt));
  const ends = calls
    .filter((call) => !call.failed && call.begunAt > lastFailed)
    .map(({ endedAt }) => endedAt!);
  return {
    seconds: (Math.min(...ends) - faultAt) / 1_000,
    failing: (failed.length * everyMs) / 1_000,
  };
};

/** Whether the newest calls that have ended all succeeded. */
const isOver = (calls: readonly Call[], enough: number): boolean => {
  const ended = calls.filter(({ endedAt }) => endedAt !== null);
  return ended.length >= enough && ended.slice(-enough).every(({ failed }) => !failed);
};

/** Asks every 50 ms. @returns seconds until the answer is yes */
export const secondsUntil = async (condition: () => Promise<boolean>): Promise<number> => {
  const startedAt = performance.now();
  while (!(await condition().catch(() => false))) {
    if (performance.now() - startedAt > GIVEN_UP_AFTER_MS) throw new Error('Not within three minutes');
    await delay(EVERY_MS);
  }
  return (performance.now() - startedAt) / 1_000;
};

const CREDITS = 10_000_000;
/** So that only faults refuse a call. */
const UNLIMITED = {
  RATE_READ_PER_MINUTE: '1000000',
  RATE_CREATE_PER_MINUTE: '1000000',
  READINGS_IN_FLIGHT: '1000000',
};

/** Something that fails until the service has recovered. */
export interface Works {
  /** A POST is accepted. */
  post(): Promise<void>;
  /** A reading is accepted and completed. */
  reading(): Promise<void>;
}

interface Installation extends Works {
  stop(): Promise<void>;
}

/** @param customers one customer at one or more APIs, which take turns */
export const worksOf = (...customers: readonly [Integrator, ...Integrator[]]): Works => {
  const [customer] = customers;
  let turn = 0;
  const accepted = async (): Promise<string> => {
    const { status, body } = await customers[turn++ % customers.length]!.create(person());
    if (status !== 202) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
    return body.readingId;
  };
  return {
    post: async () => void (await accepted()),
    reading: async () => {
      const readingId = await accepted();
      await until(
        async () => (await customer.reading(readingId)).status === 'completed',
        () => `the reading ${readingId} is completed`,
      );
    },
  };
};

/**
 * One worker and one API or two, with the limits of production, on a store that they reach under this address.
 * @param entries of the customer's book at the start
 */
export const startInstallation = async (
  eventStoreUrl: string,
  { apis = 1, entries = 0 } = {},
): Promise<Installation> => {
  const postgres = await startPostgres();
  const folder = temporaryDataDir();
  const environment = childEnvironment(
    { ...process.env, ...UNLIMITED, LOG_LEVEL: 'silent' },
    loadSecrets(openDataFolder(folder)),
    {
      DATABASE_URL: postgres.applicationUrl,
      DATABASE_OWNER_URL: postgres.ownerUrl,
      EVENTSTORE_URL: eventStoreUrl,
    },
  );
  const own = { ...withoutOperatorsSecrets(environment), PORT: '0', EXIT_WITH_PARENT: '1' };
  const names = ['worker', ...Array.from({ length: apis }, () => 'api' as const)] as const;
  const processes = await Promise.all(names.map((name) => startProcess(name, own)));
  const [, api, ...others] = processes as [StartedProcess, StartedProcess, ...StartedProcess[]];
  const ops = new OpsProcess({ ...environment, ...PATIENT });
  const stack = {
    baseUrl: api.baseUrl,
    eventStoreUrl,
    ops: (args: readonly string[]) => ops.json(args),
  } as Stack;
  const customer = await Integrator.open(stack, CREDITS);
  if (entries > 0) {
    const store = await connect(eventStoreUrl);
    await fillBook(ledgerOn(store), customer.workspaceId, entries / 2, 0);
    await store.close();
  }
  const works = worksOf(customer, ...others.map(({ baseUrl }) => customer.at(stack, baseUrl)));
  const served = () => works.post().then(() => true);
  // After so many entries, the key is known later than it is issued.
  for (const _ of [api, ...others]) await until(served, () => 'an API takes the key');
  return {
    ...works,
    stop: async () => {
      ops.stop();
      await Promise.all(processes.map((one) => one.stop()));
      await postgres.stop();
      removeDataFolder(folder);
    },
  };
};

/** An embedded store without TLS and login, in a process of its own. */
export const startStore = async (): Promise<{ readonly port: number; stop(): Promise<void> }> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'recovery-'));
  const { port, stop } = await serveStore(dataDir);
  return {
    port,
    stop: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

/** Intervals of the calls. A worker makes fewer readings than an API accepts. */
const [POST_EVERY_MS, READING_EVERY_MS] = [100, 500];

export interface Measured {
  readonly fault: string;
  readonly inflict: () => Promise<void> | void;
  /** Before the next measurement. */
  readonly mend?: () => Promise<void> | void;
  /** Seconds from the fault until the other side could serve. Asked once the fault is there. */
  readonly otherSide?: () => Promise<number>;
}

/** Measures a fault twice: until a POST is accepted, and until a reading is completed. Says what did not recover. */
export const measure = async (
  works: Works,
  { fault, inflict, mend, otherSide }: Measured,
  say: (text: string) => void,
): Promise<readonly Recovery[]> => {
  const rows: Recovery[] = [];
  for (const [measured, work, everyMs] of [
    ['a POST is accepted', works.post, POST_EVERY_MS],
    ['a reading is completed', works.reading, READING_EVERY_MS],
  ] as const) {
    let other: Promise<number> | undefined;
    let isOver = otherSide === undefined;
    const recovery = recoveryAfter(
      work,
      async () => {
        await inflict();
        other = otherSide?.();
        // It may fail before the recovery ends. Nobody may miss the end of what was started.
        other?.catch(() => undefined).finally(() => (isOver = true));
      },
      everyMs,
      () => isOver,
    );
    try {
      const row = { fault, measured, ...(await recovery), otherSide: (await other) ?? null };
      const waited =
        row.otherSide === null ? '' : `, ${row.otherSide.toFixed(1)} s of them for the other side`;
      const calls = `${row.seconds.toFixed(1)} s${waited}, calls failed for ${row.failing.toFixed(1)} s`;
      say(`  ${fault}, until ${measured}: ${calls}`);
      rows.push(row);
    } catch (error) {
      say(`  ${fault}, until ${measured}: no row. ${(error as Error).message}`);
    }
    await mend?.();
    await works.reading();
  }
  return rows;
};
