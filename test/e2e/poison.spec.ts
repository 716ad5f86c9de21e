import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import { Integrator, person, until } from '../support/integrator.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { operatedStack, type Finding } from './support/operated-stack.js';
import { Forger, type MalformedEvent, type Targets } from './support/malformed-events.js';

const DRAWS = rounds(2, 100);
const SEED = seedOr(20261123);
const MOST_COMMANDS = 5;
/** Draws between two checks of everything. */
const CHECK_EVERY = 20;

const operated = operatedStack();
const { json, handled } = operated;
const random = new Random(SEED);
let forger: Forger;
let other: Integrator;
let usual: ReadonlySet<string>;
let others: Targets;

beforeAll(async () => {
  forger = new Forger(operated.stack.eventStoreUrl, random);
  other = await Integrator.open(operated.stack, 100_000);
  others = await targets();
  usual = new Set((await troubles()).map(({ check }) => check));
});
afterAll(() => forger.close());

const troubles = async (): Promise<readonly Finding[]> =>
  ((await json(['doctor']))['findings'] as Finding[]).filter(({ level }) => level !== 'ok');
/** What a machine of tests always has, such as a full disk, is no consequence of an event. */
const unusual = async () => (await troubles()).filter(({ check }) => !usual.has(check));

/** A customer of its own for each round: what happens to its streams concerns no other. */
const targets = async (): Promise<Targets> => {
  const customer = await Integrator.open(operated.stack, 1_000);
  const { readingId } = (await customer.create(person())).body;
  await customer.untilEnded(readingId);
  const test = await customer.inTestMode();
  await test.untilEnded((await test.create(person())).body.readingId);
  const orderLineId = await ordered(customer);
  const endpoint = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
    body: { url: 'https://receiver.example.com/hooks' },
  });
  return { workspaceId: customer.workspaceId, readingId, endpointId: endpoint.body.endpointId, orderLineId };
};

/** Buys a pack. @returns the id of its order line */
const ordered = async ({ workspaceId }: Integrator): Promise<string> => {
  const order = `INV-${workspaceId}`;
  const add = ['pack', 'add', '--workspace', workspaceId, '--pack', 'flex', '--order', order];
  await operated.stack.ops(add);
  return uuid5('order line', order, 'flex');
};

/** Does what doctor says, until it is clean. @returns the commands given, doctor's own included */
const followDoctor = async (): Promise<readonly string[]> => {
  const given: string[] = [];
  const wayOut = (found: readonly Finding[]) =>
    found
      .map(({ advice }) => /ops parked set-aside (\S+) --reason/.exec(advice))
      .map((named) => named?.[1])
      .find(Boolean);
  for (;;) {
    given.push('ops doctor');
    let found: readonly Finding[] = [];
    // Jobs that failed because of the event are retried in a while.
    await until(
      async () => {
        found = await unusual();
        return found.length === 0 || wayOut(found) !== undefined;
      },
      () => `Doctor knows no way out of ${JSON.stringify(found)}`,
    );
    const place = wayOut(found);
    if (place === undefined) return given;
    given.push(`ops parked set-aside ${place}`);
    await operated.stack.ops(['parked', 'set-aside', place, '--reason', 'drawn by a test', '--yes']);
    if (given.length > MOST_COMMANDS) throw new Error(`Too many commands: ${given.join('; ')}`);
  }
};

const everythingHolds = async (): Promise<void> => {
  await operated.stack.ops(['projections', 'replay', '--all']);
  for (const mode of ['live', 'test']) {
    const all = ['--all', '--mode', mode];
    expect(await operated.stack.ops(['ledger', 'reconcile', ...all])).toMatchObject({ ok: true });
    expect(await operated.stack.ops(['ledger', 'verify', ...all])).toMatchObject({ ok: true });
  }
  const { readingId } = (await other.create(person())).body;
  expect(await other.untilEnded(readingId)).toMatchObject({ status: 'completed' });
};

it(`After a malformed event, at most ${MOST_COMMANDS} commands make everything whole (${again('poison', DRAWS, SEED)})`, async () => {
  const most: (MalformedEvent & { commands: number })[] = [];
  let aim = await targets();
  for (let draw = 1; draw <= DRAWS; draw += 1) {
    if (draw % 10 === 0) aim = await targets();
    const event = await forger.append(aim, others);
    try {
      await handled();
      const commands = await followDoctor();
      expect(commands.length).toBeLessThanOrEqual(MOST_COMMANDS);
      most.push({ ...event, commands: commands.length });
      if (draw === DRAWS || draw % CHECK_EVERY === 0) await everythingHolds();
    } catch (error) {
      throw new Error(`Draw ${draw} of seed ${SEED}, ${JSON.stringify(event)}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  const { setAside } = (await operated.stack.ops(['parked', 'list'])) as { setAside: object[] };
  // Streams that no reader knows, such as another product's, keep nothing parked.
  const isRead = (stream: string) => stream === 'setAside-events' || !/^(unheard|setAside)-/.test(stream);
  expect(most.filter(({ stream, commands }) => isRead(stream) !== commands > 1)).toEqual([]);
  expect(setAside).toHaveLength(most.filter(({ commands }) => commands > 1).length);
}, 3_600_000);

it('A deleted balance does not pass in silence: doctor and reconcile name the command that mends it', async () => {
  const customer = await Integrator.open(operated.stack, 1_000);
  const read = async () => customer.untilEnded((await customer.create(person())).body.readingId);
  await read();
  await handled();
  const book = `credits-${customer.workspaceId}`;
  await operated.database.query("delete from billing.balance where workspace_id = $1 and mode = 'live'", [
    customer.workspaceId,
  ]);
  const command = ['projections', 'replay', 'billing.balance.v1', '--stream', book];
  // Also before the book's next event, which the view cannot handle.
  expect(await unusual()).toMatchObject([{ check: 'balances', advice: `ops ${command.join(' ')}` }]);
  const { differences } = await json(['ledger', 'reconcile', '--all', '--grace', '0']);
  expect(differences).toMatchObject([
    { kind: 'balance_missing', message: expect.stringContaining(`ops ${command.join(' ')}`) },
  ]);
  await read();
  let found: readonly Finding[] = [];
  await until(
    async () => (found = await unusual()).some(({ advice }) => advice === `ops ${command.join(' ')}`),
    () => `Doctor says ${JSON.stringify(found)}`,
  );
  await operated.stack.ops(command);
  await until(
    async () => (found = await unusual()).length === 0,
    () => `Doctor says ${JSON.stringify(found)}`,
  );
  await handled();
  expect(await customer.balance()).toMatchObject({ available: 960, held: 0 });
  expect(await operated.stack.ops(['ledger', 'reconcile', '--all'])).toMatchObject({ ok: true });
});

it('A test book that cannot be read stops test readings alone, until the entry is set aside', async () => {
  const customer = await Integrator.open(operated.stack, 1_000);
  const test = await customer.inTestMode();
  await test.untilEnded((await test.create(person())).body.readingId);
  const stream = `testbook-${customer.workspaceId}`;
  const revision = await forger.appendTo(stream, 'CreditsReserved', { amount: 'many' });
  await until(
    async () => (await test.create(person())).body['code'] === 'billing_misconfigured',
    () => 'the test book is not read again',
  );
  expect((await test.call('GET', '/api/v1/credits')).status).toBe(503);
  expect(await customer.untilEnded((await customer.create(person())).body.readingId)).toMatchObject({
    status: 'completed',
  });
  await handled();
  expect(await customer.balance()).toMatchObject({ available: 980, consumed: 20, held: 0 });
  expect(await operated.stack.ops(['ledger', 'verify', '--all'])).toMatchObject({ ok: true });
  expect(await json(['ledger', 'verify', '--all', '--mode', 'test'])).toMatchObject({ code: 1, ok: false });
  const found = await unusual();
  expect(found.map(({ check }) => check)).toEqual(['parked streams']);
  expect(found[0]!.message).toContain(`${stream}@${revision}`);
  await followDoctor();
  let again: Awaited<ReturnType<typeof test.create>> | undefined;
  // An API process learns of a decision a moment later.
  await until(
    async () => (again = await test.create(person())).status === 202,
    () => `the test book is still refused: ${JSON.stringify(again?.body)}`,
  );
  expect(await test.untilEnded(again!.body.readingId)).toMatchObject({
    status: 'completed',
    livemode: false,
  });
  await everythingHolds();
});

describe('An entry of a book that cannot be read', () => {
  const reference = 'INC-BAD';
  let workspaceId: string;
  let place: string;
  const ledger = (...args: readonly string[]) => json(['ledger', ...args]);
  const month = () =>
    ledger(
      ...['month', '--period', '2020-01', '--all', '--out', operated.stack.dataDir],
      ...['--key', join(operated.stack.dataDir, 'seal-private.pem')],
    );
  /** Of commands that show the entry, whatever was decided about it. */
  const shown = async (said: RegExp) => {
    expect((await ledger('find', reference))['entries']).toMatchObject([
      { workspaceId, credits: 0, unreadable: expect.stringMatching(said) },
    ]);
    const { passedOver } = await json(['readings', 'unreadable']);
    expect(passedOver).toContain(`${place} (CreditsAdjusted)`);
  };

  beforeAll(async () => {
    ({ workspaceId } = await Integrator.open(operated.stack, 100));
    await operated.stack.ops(['ledger', 'keygen', '--out', operated.stack.dataDir]);
    const stream = `credits-${workspaceId}`;
    const revision = await forger.appendTo(stream, 'CreditsAdjusted', { reference, amount: 'many' });
    place = `${stream}@${revision}`;
  });

  it('is shown, and stops every seal', async () => {
    await shown(/^cannot be read: /);
    expect(await month()).toMatchObject({
      code: 1,
      ok: false,
      problems: [{ workspaceId, revision: place.split('@')[1] }],
    });
  });

  it('is passed over once it is set aside, and every command says so', async () => {
    await operated.stack.ops(['parked', 'set-aside', place, '--reason', 'no fact', '--yes']);
    await shown(/^set aside by operator:.*: no fact$/);
    const { setAside, ...sealed } = await month();
    expect(sealed).toMatchObject({ code: 0, ok: true, books: 0 });
    expect((setAside as object[]).at(-1)).toMatchObject({ stream: `credits-${workspaceId}` });
  });
});
