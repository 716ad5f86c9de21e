import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { untilPostgresAnswers } from './postgres-answers.js';
import { runConsumer } from './runner.js';

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const QUESTION = 'select 1';

it('A consumer makes no attempt while PostgreSQL is away, and one as soon as it answers', async () => {
  const asked: string[] = [];
  const stopping = new AbortController();
  const query = async (text: string) => {
    asked.push(text === QUESTION ? 'question' : 'attempt');
    if (asked.length === 5) stopping.abort();
    if (asked.length < 4) throw refused();
    return { rows: [{ position: '100', epoch: '0' }], rowCount: 1 };
  };
  const log = { warn: () => undefined, error: () => undefined };
  await runConsumer(
    { name: 'settlement', categories: ['tally'], birth: 'beginning', steps: () => [] },
    { pool: { query } as never, store: new InMemoryEventStore(), log },
    stopping.signal,
  );
  expect(asked.slice(0, 5)).toEqual(['attempt', 'question', 'question', 'question', 'attempt']);
});

it('Consumers that wait for PostgreSQL share one question', async () => {
  let questions = 0;
  let answer = (): void => undefined;
  const pool = {
    query: () => {
      questions += 1;
      return new Promise((resolve) => (answer = () => resolve({ rows: [] })));
    },
  } as never;
  const { signal } = new AbortController();
  const waiting = [1, 2, 3].map(() => untilPostgresAnswers(pool, signal));
  expect(questions).toBe(1);
  answer();
  expect(await Promise.all(waiting)).toEqual([false, false, false]);
  const later = untilPostgresAnswers(pool, signal);
  expect(questions).toBe(2);
  answer();
  await later;
});

it('Nobody asks again after the signal', async () => {
  let questions = 0;
  const stopping = new AbortController();
  const query = async () => {
    questions += 1;
    if (questions === 2) stopping.abort();
    throw refused();
  };
  const waiting = untilPostgresAnswers({ query } as never, stopping.signal);
  await once(stopping.signal, 'abort');
  expect(await waiting).toBe(true);
  expect(questions).toBe(2);
});
