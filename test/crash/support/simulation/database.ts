import type { Pool } from 'pg';
import type { OnTheWay } from './faulty-store.js';
import { callOver } from './network.js';
import type { Life, Scheduler } from './scheduler.js';
import { statementOf, type Query, type Statement, type Values } from './statement.js';
import type { Tables } from './tables.js';

const COMMIT_UNHEARD = 0.01;
const COMMIT_LOST = 0.01;
const COMMIT_LATE = 0.01;
const LATE_WITHIN_MS = 60_000;

/** What a process finds when its connection to PostgreSQL breaks. */
export const brokenConnection = (): Error =>
  Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });

/**
 * The connection pool of one process. Statements of a transaction take effect together at its commit. A commit that is
 * reported as failed may have taken effect or not, or take effect much later.
 */
export const simulatedPool = (tables: Tables, scheduler: Scheduler, life: Life, onTheWay: OnTheWay): Pool => {
  const strikes = (probability: number): boolean => scheduler.isRough && scheduler.random.chance(probability);
  const call = <T>(label: string, effect: () => T): Promise<T> =>
    callOver(scheduler, life, 'postgres', { label, effect, gone: brokenConnection });

  const query = (asked: Query, values?: Values) => {
    const statement = statementOf(asked, values);
    return call(firstWords(statement[0]), () => tables.run(statement, scheduler.now));
  };

  /** As after lost packets: the process has given up, and the server receives its commit. */
  const commitLater = (statements: readonly Statement[], losses: number): void => {
    onTheWay.count += 1;
    scheduler.after(scheduler.random.between(1, LATE_WITHIN_MS), 'late commit', () => {
      onTheWay.count -= 1;
      if (tables.losses !== losses) return;
      try {
        tables.commit(statements, scheduler.now);
      } catch (error) {
        if ((error as { code?: string }).code !== '40001') throw error;
      }
    });
  };

  const connect = async () => {
    let pending: Statement[] = [];
    let losses = tables.losses;
    return {
      release: () => undefined,
      query: async (asked: Query, values?: Values) => {
        if (asked === 'rollback' || (typeof asked === 'string' && asked.startsWith('begin'))) {
          pending = [];
          losses = tables.losses;
          return { rows: [], rowCount: 0 };
        }
        if (asked !== 'commit') {
          const statement = statementOf(asked, values);
          const answer = tables.preview(statement, pending);
          pending.push(statement);
          return answer;
        }
        return call(`commit ${pending.length} statements`, () => {
          if (strikes(COMMIT_LOST) || tables.losses !== losses) throw brokenConnection();
          if (strikes(COMMIT_LATE)) {
            commitLater(pending, losses);
            throw brokenConnection();
          }
          tables.commit(pending, scheduler.now);
          if (strikes(COMMIT_UNHEARD)) throw brokenConnection();
          return { rows: [], rowCount: 0 };
        });
      },
    };
  };
  return { query, connect } as unknown as Pool;
};

const firstWords = (text: string): string => text.split(' ', 4).join(' ');
