import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { runVerifier } from '../../libs/billing/test/run-verifier.js';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator, until } from '../support/integrator.js';
import { ledgerOf } from '../support/ledger.js';

let stack: StartedStack;
let database: pg.Client;

beforeAll(async () => {
  stack = await startStack();
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await stack?.stop();
});

it('A document that ended three workers costs nothing: its credits come back, and every audit agrees', async () => {
  const { ledger, json } = ledgerOf(() => stack);
  const customer = await Integrator.open(stack, 100);
  // As if each document had ended three workers before.
  await database.query(`
    create function publishing.three_deaths() returns trigger language plpgsql as $$
      begin new.begun := 4; return new; end $$;
    create trigger three_deaths before insert on publishing.render_attempt
      for each row execute function publishing.three_deaths()`);
  const { readingId } = (await customer.create()).body;
  await until(
    async () => (await ledger('find', readingId)).stdout.includes('billing.document-refund'),
    () => 'nothing came back',
  );
  await until(
    async () => (await customer.balance()).available === 100,
    () => 'the balance lacks what came back',
  );
  expect(await customer.reading(readingId)).toMatchObject({
    status: 'completed',
    document: { available: false },
  });

  expect(await json('verify', '--workspace', customer.workspaceId)).toMatchObject({ code: 0, ok: true });
  expect(await json('verify', '--all')).toMatchObject({ code: 0, ok: true });
  await until(
    async () => (await json('reconcile', '--all', '--grace', '0')).code === 0,
    () => 'differences',
  );
  expect(await json('explain', readingId)).toMatchObject({ code: 0, outcome: 'completed', findings: [] });
  const book = join(stack.dataDir, 'book.jsonl');
  await json('export', '--workspace', customer.workspaceId, '--format', 'jsonl', '--out', book);
  expect(await json('verify-file', book)).toMatchObject({ code: 0, balances: { available: 100 } });
  expect(runVerifier(stack.dataDir, readFileSync(book, 'utf8'))).toMatchObject({ status: 0 });
  expect(await stack.ops(['readings', 'unreadable'])).toMatchObject({
    readings: [{ readingId, refunded: true }],
  });
  expect((await stack.runOps(['doctor'])).stdout).toContain(
    '1 documents were given up, such as that of reading ' + readingId,
  );
});
