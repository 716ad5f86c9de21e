import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Integrator, until } from '../support/integrator.js';
import { readIfThere } from '../support/read-if-there.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';

/** Invented words that occur nowhere else. One found in clear is a leak. */
const EXTERNAL_ID = 'Yrsolinde-4711';
const CANARIES = [
  'Qxanthippe',
  'Wombatine',
  'Zugvogelsson',
  '1987-03-29',
  'nonbinary',
  EXTERNAL_ID,
  'Klabusterfeld',
  'Hortensienweg',
];

let stack: StartedStack;
let receiver: Receiver;
let apiKey: string;
let signingSecret: string;
let linkToken: string;

beforeAll(async () => {
  stack = await startStack({ env: { ...RECEIVER_SETTINGS, LOG_LEVEL: 'debug' } });
  receiver = await startReceiver();
  const customer = await Integrator.open(stack, 1_000);
  apiKey = customer.apiKey;
  const endpoint = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url },
  });
  signingSecret = endpoint.body.signingSecret;
  receiver.secret = signingSecret;
  const body = {
    productId: 'theme',
    profileId: 'evan',
    locale: 'en-US',
    name: { firstNames: ['Qxanthippe'], middleNames: ['Wombatine'], lastNames: ['Zugvogelsson'] },
    dateOfBirth: '1987-03-29',
    grammaticalProfile: { subjectGender: 'nonbinary' },
    externalId: EXTERNAL_ID,
    metadata: { Klabusterfeld: 'Hortensienweg' },
  };
  const accepted = await customer.create(body, { 'idempotency-key': 'Qxanthippe-1' });
  await customer.create({ ...body, dateOfBirth: '1987-03-299' });
  await customer.create({ ...body, metadata: { test_outcome: 'Hortensienweg' } });
  const bulk = { mode: 'available', readings: [body, { ...body, metadata: { Klabusterfeld: 1 } }] };
  const batch = { body: bulk, headers: { 'idempotency-key': 'Qxanthippe-2' } };
  expect((await customer.call('POST', '/api/v1/readings/bulk', batch)).status).toBe(202);
  const lists = `/api/v1/readings?externalId=${EXTERNAL_ID}`;
  expect((await customer.call('GET', lists)).status).toBe(200);
  expect((await customer.call('GET', `${lists}&status=Hortensienweg`)).status).toBe(400);
  await customer.untilEnded(accepted.body.readingId);
  const link = await customer.call<{ linkId: string; url: string }>(
    'POST',
    `/api/v1/readings/${accepted.body.readingId}/document/links`,
    { body: { format: 'markdown' }, headers: { 'idempotency-key': 'link' } },
  );
  linkToken = link.body.url.slice(-40);
  expect((await fetch(link.body.url)).status).toBe(200);
  expect((await fetch(`${link.body.url}/more`)).status).toBe(404);
  const links = `/api/v1/readings/${accepted.body.readingId}/document/links`;
  await customer.call('DELETE', `${links}/${link.body.linkId}`);
  expect((await fetch(link.body.url)).status).toBe(410);
  // A failing reading, whose error must not repeat the input either.
  process.kill(stack.pids().worker, 'SIGSTOP');
  const failing = await customer.create(body);
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query('delete from platform.subject_key where subject_id = $1', [failing.body.readingId]);
  await client.end();
  process.kill(stack.pids().worker, 'SIGCONT');
  await customer.untilEnded(failing.body.readingId);
  await until(
    () => receiver.received.length >= 3,
    () => 'three webhooks',
  );
});

afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
});

const secrets = (): string[] => [...CANARIES, apiKey, apiKey.slice(17), signingSecret, linkToken];

/** Canaries and secrets found in a text, also as base64, as hex and with escaped characters. */
const found = (text: string): string[] =>
  secrets().filter((word) => {
    const bytes = Buffer.from(word);
    const base64 = bytes.toString('base64').replace(/=+$/, '').slice(0, -1);
    return [word, bytes.toString('hex'), base64].some((form) =>
      text.toLowerCase().includes(form.toLowerCase()),
    );
  });

describe('personal data and secrets appear in clear nowhere', () => {
  it('the search finds planted values', () => {
    expect(found(`x${CANARIES[0]}y`)).toEqual([CANARIES[0]]);
    expect(found(Buffer.from('Zugvogelsson').toString('hex'))).toEqual(['Zugvogelsson']);
  });

  it('in no table of the database, jobs included', async () => {
    const client = new pg.Client({ connectionString: stack.databaseUrl });
    await client.connect();
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(10);
    const leaks: string[] = [];
    let rowsSeen = 0;
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      rowsSeen += rows.length;
      for (const { row } of rows) for (const word of found(row)) leaks.push(`${name}: ${word}`);
    }
    await client.end();
    expect(leaks).toEqual([]);
    expect(rowsSeen).toBeGreaterThan(20);
  });

  it('in no file of the data folder: event store, database files, logs', () => {
    const leaks: string[] = [];
    let files = 0;
    for (const entry of readdirSync(stack.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const bytes = readIfThere(path);
      if (!bytes) continue;
      files += 1;
      for (const word of found(bytes.toString('latin1'))) leaks.push(`${path}: ${word}`);
    }
    expect(files).toBeGreaterThan(50);
    expect(leaks).toEqual([]);
  });

  it('in no webhook, but for the external id', () => {
    const sent = JSON.stringify(receiver.received.map(({ event, headers }) => ({ event, headers })));
    expect(found(sent)).toEqual([EXTERNAL_ID]);
  });

  it('in nothing the stack printed', () => {
    expect(found(stack.output())).toEqual([]);
  });
});
