import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { programPath } from '#platform/program-path.js';
import { startStack, type StartedStack } from '../../support/index.js';
import { Integrator, person, until, untilHandled } from '../../support/integrator.js';

/** What `ops doctor --json` says of one check. */
export interface Finding {
  readonly check: string;
  readonly level: string;
  readonly message: string;
  readonly advice: string;
}

interface Readiness {
  readonly checks: Record<string, boolean>;
}

const OPS = programPath('ops');

/** A customer, and a stack. Members are available only within tests. */
export const operatedStack = () => {
  let stack: StartedStack;
  let customer: Integrator;
  let database: pg.Client;

  beforeAll(async () => {
    stack = await startStack();
    customer = await Integrator.open(stack, 1_000);
    database = new pg.Client({ connectionString: stack.databaseUrl });
    await database.connect();
  });

  afterAll(async () => {
    await database?.end();
    await stack?.stop();
  });

  const json = async (
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<Record<string, unknown>> => {
    const { code, stdout } = await stack.runOps([...args, '--json'], env);
    return { code, ...(JSON.parse(stdout) as Record<string, unknown>) };
  };
  const ready = async (): Promise<{ status: number; body: Readiness }> => {
    const answer = await fetch(`${stack.baseUrl}/readyz`);
    return { status: answer.status, body: (await answer.json()) as Readiness };
  };
  /** A loaded machine is late for a moment, so one answer says little. */
  const untilReady = async (): Promise<Readiness> => {
    let last: Readiness | undefined;
    await until(
      async () => {
        const { status, body } = await ready();
        last = body;
        return status === 200;
      },
      () => `ready; the last answer was ${JSON.stringify(last)}`,
    );
    return last!;
  };
  const handled = (): Promise<void> => untilHandled(stack);
  const published = async (locale = 'fr-FR'): Promise<string> => {
    const { readingId } = (await customer.create(person('Zoé', locale))).body;
    await customer.untilEnded(readingId);
    return readingId;
  };

  /** Starts a command of `ops` that prints until it ends. @returns its exit code, and its lines as they arrive */
  const follow = (
    args: readonly string[],
  ): { exited: Promise<number | null>; printed: readonly string[] } => {
    const child = spawn(process.execPath, [OPS, ...args], {
      env: { ...process.env, DATA_DIR: stack.dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const printed: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => printed.push(line));
    return { exited: new Promise((resolve) => child.once('close', resolve)), printed };
  };

  return {
    get stack() {
      return stack;
    },
    get customer() {
      return customer;
    },
    /** A connection as the owner of the tables. */
    get database() {
      return database;
    },
    json,
    ready,
    untilReady,
    handled,
    published,
    follow,
  };
};
