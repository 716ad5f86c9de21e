import type { Pool, QueryConfig, QueryResult } from 'pg';
import type { OnTheWay } from './faulty-store.js';
import { callOver } from './network.js';
import type { Asked, SimulatedPostgres } from './postgres.js';
import type { Life, Scheduler } from './scheduler.js';

const COMMIT_UNHEARD = 0.01;
const COMMIT_LOST = 0.01;
const COMMIT_LATE = 0.01;
const LATE_WITHIN_MS = 60_000;

/** What a process finds when its connection to PostgreSQL breaks. */
export const brokenConnection = (): Error =>
  Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });

const NOTHING = { rows: [], rowCount: 0 };

const statementOf = (asked: Asked, values?: unknown[]): QueryConfig =>
  typeof asked === 'string' ? { text: asked, ...(values && { values }) } : asked;

/** A pool without faults, for what looks from outside. */
export const plainPool = (postgres: SimulatedPostgres): Pool =>
  ({
    query: (asked: Asked, values?: unknown[]) => postgres.run(statementOf(asked, values)),
  }) as unknown as Pool;

/**
 * The connection pool of one process. Statements of a transaction take effect together at its commit. A commit that is
 * reported as failed may have taken effect or not, or take effect much later.
 */
export const simulatedPool = (
  postgres: SimulatedPostgres,
  scheduler: Scheduler,
  life: Life,
  onTheWay: OnTheWay,
): Pool => {
  const strikes = (probability: number): boolean => scheduler.isRough && scheduler.random.chance(probability);
  const call = <T>(label: string, effect: () => Promise<T>): Promise<T> => {
    const kind = label.startsWith('select') ? 'read' : 'write';
    return callOver(scheduler, life, 'postgres', { label, effect, gone: brokenConnection, kind });
  };

  const query = (asked: Asked, values?: unknown[]): Promise<QueryResult> => {
    const statement = statementOf(asked, values);
    return call(firstWords(statement.text), () => postgres.run(statement));
  };

  /** As after lost packets: the process has given up, and the server receives its commit. */
  const commitLater = (commit: () => Promise<void>): void => {
    onTheWay.count += 1;
    const { losses } = postgres;
    scheduler.after(scheduler.random.between(1, LATE_WITHIN_MS), 'late commit', () => {
      onTheWay.count -= 1;
      // Another transaction may have been first.
      if (postgres.losses === losses) commit().catch(() => undefined);
    });
  };

  const connect = async () => {
    let done: { statement: QueryConfig; touched: number | null }[] = [];
    let { losses } = postgres;
    return {
      release: () => undefined,
      query: async (asked: Asked, values?: unknown[]) => {
        const statement = statementOf(asked, values);
        if (statement.text === 'rollback' || statement.text.startsWith('begin')) {
          done = [];
          ({ losses } = postgres);
          return NOTHING;
        }
        if (statement.text !== 'commit') {
          const answer = await postgres.try(done, statement);
          done.push({ statement, touched: answer.rowCount });
          return answer;
        }
        const commit = () => postgres.commit(done);
        return call(`commit ${done.length} statements`, async () => {
          if (strikes(COMMIT_LOST) || postgres.losses !== losses) throw brokenConnection();
          if (strikes(COMMIT_LATE)) {
            commitLater(commit);
            throw brokenConnection();
          }
          await commit();
          if (strikes(COMMIT_UNHEARD)) throw brokenConnection();
          return NOTHING;
        });
      },
    };
  };
  return { query, connect } as unknown as Pool;
};

const firstWords = (text: string): string => text.trim().split(/\s+/, 4).join(' ');
