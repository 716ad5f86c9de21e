import { describe, expect, it } from '@jest/globals';
import { testPool } from '../../../../test/support/test-pool.js';
import { createLogger } from './logger.js';

const CANARY = 'Zugvogelsson';
const pool = testPool();

/** The line of the log about an error. */
const lineOf = (err: unknown): string => {
  let written = '';
  createLogger('spec', 'info', { write: (line) => void (written += line) }).error({ err }, 'failed');
  return written;
};
const failureOf = (text: string): Promise<unknown> =>
  pool.query(text, [CANARY]).then(
    () => null,
    (error: unknown) => error,
  );

describe('A line of the log about an error', () => {
  it.each([
    [
      'a row that breaks a rule',
      `insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, secrets, revision, created_at)
       values ('we_1', 'ws_1', $1, '{}', '[]', 0, now())`,
      'null value in column "updated_at" of relation "endpoint"',
    ],
    ['a value of another type', `select ($1::text)::uuid`, 'SQLSTATE 22P02'],
  ])('repeats no value of a statement: %s', async (_, text, message) => {
    const error = await failureOf(text);
    const line = lineOf(new Error('the request failed', { cause: error }));
    for (const one of [line, lineOf(error)]) {
      expect(one).not.toContain(CANARY);
      expect((JSON.parse(one) as { err: { message: string } }).err.message).toContain(message);
    }
  });

  it('says what, where and why', () => {
    const { err } = JSON.parse(
      lineOf(new TypeError('no such thing', { cause: Object.assign(new Error('gone'), { code: 'EPIPE' }) })),
    ) as { err: { type: string; message: string; stack: string } };
    expect(err).toMatchObject({ type: 'TypeError', message: 'no such thing: gone' });
    expect(err.stack).toMatch(
      /^TypeError: no such thing\n\s+at .+logger\.integration\.spec[^]+caused by: Error: gone\n/,
    );
  });
});
