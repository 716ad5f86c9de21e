import type { Pool } from 'pg';
import { type Tables } from './tables.js';
import type { Life, Scheduler } from './scheduler.js';

type Query = string | { readonly text: string; readonly values?: readonly unknown[] };

const COMMIT_UNHEARD = 0.01;
const COMMIT_LOST = 0.01;

/**
 * A pool of connections as one process has it. Statements of a transaction take effect together at its commit, which
 * may be carried out and reported failed, or the reverse.
 */
export const simulatedPool = (tables: Tables, scheduler: Scheduler, life: Life): Pool => {
  const strikes = (probability: number): boolean => scheduler.isRough && scheduler.random.chance(probability);
  const broken = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });

  const query = (asked: Query, values: readonly unknown[] = []) => {
    const text = typeof asked === 'string' ? asked : asked.text;
    const given = typeof asked === 'string' ? values : (asked.values ?? []);
    return scheduler.io(life, firstWords(text), () => tables.run(text, given, scheduler.now));
  };

  const connect = async () => {
    let pending: (readonly [text: string, values: readonly unknown[]])[] = [];
    return {
      release: () => undefined,
      query: async (text: string, given: readonly unknown[] = []) => {
        if (text === 'begin' || text === 'rollback') {
          pending = [];
          return { rows: [], rowCount: 0 };
        }
        if (text !== 'commit') {
          pending.push([text, given]);
          return tables.preview(text, given);
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

const firstWords = (text: string): string => text.trim().split(/\s+/, 4).join(' ');
