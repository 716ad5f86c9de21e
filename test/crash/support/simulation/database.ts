import type { Pool } from 'pg';
import type { Life, Scheduler } from './scheduler.js';
import { statementOf, type Query, type Statement, type Values } from './statement.js';
import type { Tables } from './tables.js';

const COMMIT_UNHEARD = 0.01;
const COMMIT_LOST = 0.01;

/**
 * The connection pool of one process. Statements of a transaction take effect together at its commit. A commit that is
 * reported as failed may have taken effect or not.
 */
export const simulatedPool = (tables: Tables, scheduler: Scheduler, life: Life): Pool => {
  const strikes = (probability: number): boolean => scheduler.isRough && scheduler.random.chance(probability);
  const broken = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });

  const query = (asked: Query, values?: Values) => {
    const statement = statementOf(asked, values);
    return scheduler.io(life, firstWords(statement[0]), () => tables.run(statement, scheduler.now));
  };

  const connect = async () => {
    let pending: Statement[] = [];
    return {
      release: () => undefined,
      query: async (asked: Query, values?: Values) => {
        if (asked === 'rollback' || (typeof asked === 'string' && asked.startsWith('begin'))) {
          pending = [];
          return { rows: [], rowCount: 0 };
        }
        if (asked !== 'commit') {
          const statement = statementOf(asked, values);
          const answer = tables.preview(statement, pending);
          pending.push(statement);
          return answer;
        }
        return scheduler.io(life, `commit ${pending.length} statements`, () => {
          if (strikes(COMMIT_LOST)) throw broken();
          tables.commit(pending, scheduler.now);
          if (strikes(COMMIT_UNHEARD)) throw broken();
          return { rows: [], rowCount: 0 };
        });
      },
    };
  };
  return { query, connect } as unknown as Pool;
};

const firstWords = (text: string): string => text.split(' ', 4).join(' ');
