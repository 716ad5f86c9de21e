import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import { fixture, startStack, type Finding } from '../support/index.js';
import { Integrator, until, untilHandled } from '../support/integrator.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { Forger, type MalformedEvent, type Targets } from './support/malformed-events.js';

const DRAWS = rounds(2, 100);
const SEED = seedOr(20261123);
const MOST_COMMANDS = 5;
/** Draws between two checks of everything. */
const CHECK_EVERY = 20;

const stack = fixture(startStack);
const random = new Random(SEED);
const forger = fixture(
  async () => new Forger(stack.eventStoreUrl, random),
  (one) => one.close(),
);
const other = fixture(() => Integrator.open(stack, 100_000));
let usual: ReadonlySet<string>;
let others: Targets;

beforeAll(async () => {
  others = await targets();
  usual = new Set((await troubles()).map(({ check }) => check));
});

const troubles = async () => (await stack.doctor()).filter(({ level }) => level !== 'ok');
/** What a machine of tests always has, such as a full disk, is no consequence of an event. */
const unusual = async () => (await troubles()).filter(({ check }) => !usual.has(check));
const setAside = (place: string, ...more: string[]) =>
  stack.ops(['parked', 'set-aside', place, '--reason', 'INC-42', ...more]);
const decided = async () =>
  ((await stack.ops(['parked', 'list'])) as { setAside: readonly { stream: string }[] }).setAside;

/** A customer of its own for each round: what happens to its streams concerns no other. */
const targets = async (): Promise<Targets> => {
  const customer = await Integrator.open(stack, 1_000);
  const { workspaceId } = customer;
  const readingId = await customer.published();
  await (await customer.inTestMode()).published();
  const order = `INV-${workspaceId}`;
  await stack.ops(['pack', 'add', '--workspace', workspaceId, '--pack', 'flex', '--order', order]);
  const orderLineId = uuid5('order line', order, 'flex');
  const endpointId = await customer.endpoint('https://receiver.example.com/hooks');
  return { workspaceId, readingId, endpointId, orderLineId };
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
    await setAside(place, '--yes');
    if (given.length > MOST_COMMANDS) throw new Error(`Too many commands: ${given.join('; ')}`);
  }
};

const everythingHolds = async (): Promise<void> => {
  await stack.ops(['projections', 'replay', '--all']);
  for (const mode of ['live', 'test'])
    for (const check of ['reconcile', 'verify'])
      expect(await stack.ops(['ledger', check, '--all', '--mode', mode])).toMatchObject({ ok: true });
  expect(await other.reading(await other.published())).toMatchObject({ status: 'completed' });
};

it(`After a malformed event, at most ${MOST_COMMANDS} commands make everything whole (${again('poison', DRAWS, SEED)})`, async () => {
  const before = (await decided()).length;
  const most: (MalformedEvent & { commands: number })[] = [];
  let aim = await targets();
  for (let draw = 1; draw <= DRAWS; draw += 1) {
    if (draw % 10 === 0) aim = await targets();
    const event = await forger.append(aim, others);
    try {
      await untilHandled(stack);
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
  expect(most.filter(({ commands }) => commands === 1)).toEqual([]);
  expect((await decided()).length - before).toBe(DRAWS);
}, 3_600_000);

it('A deleted balance does not pass in silence: reconcile names the command that mends it', async () => {
  const customer = await Integrator.open(stack, 1_000);
  await customer.published();
  await untilHandled(stack);
  await stack.query(`delete from billing.balance where workspace_id = $1 and mode = 'live'`, [
    customer.workspaceId,
  ]);
  const mend = ['projections', 'replay', 'billing.balance.v1', '--stream', `credits-${customer.workspaceId}`];
  const command = `ops ${mend.join(' ')}`;
  expect(await stack.report(['ledger', 'reconcile', '--all', '--grace', '0'])).toMatchObject({
    differences: [{ kind: 'balance_missing', message: expect.stringContaining(command) }],
  });
  await stack.ops(mend);
  await untilHandled(stack);
  expect(await customer.balance()).toMatchObject({ available: 980, held: 0 });
  expect(await stack.ops(['ledger', 'reconcile', '--all'])).toMatchObject({ ok: true });
});

it('An event is set aside only with --yes; before, the command says what it would do, and whether a newer version may understand it', async () => {
  const { workspaceId } = await Integrator.open(stack, 0);
  const stream = `workspace-${workspaceId}`;
  const event = `${stream}@${await forger.appendTo(stream, 'WorkspaceRenamed', { name: 'New' }, true)}`;
  const ofStream = async () => (await decided()).filter((one) => one.stream === stream);
  const shown = { event, consumers: null, outcome: 'not_set_aside', isOfNewer: true };
  expect(await setAside(event)).toMatchObject(shown);
  expect(await ofStream()).toEqual([]);
  expect(await setAside(event, '--yes')).toMatchObject({ event, outcome: 'set_aside' });
  // A command that ended after its decision is finished by a repetition.
  await setAside(event, '--yes');
  expect(await ofStream()).toHaveLength(1);
});

it('An entry of a book that cannot be read stops every seal until it is set aside, and every command says so', async () => {
  const reference = 'INC-BAD';
  const { workspaceId } = await Integrator.open(stack, 100);
  await stack.ops(['ledger', 'keygen', '--out', stack.dataDir]);
  const stream = `credits-${workspaceId}`;
  const entry = { reference, amount: 'many' };
  const revision = await forger.appendTo(stream, 'CreditsAdjusted', entry);
  const place = `${stream}@${revision}`;
  const month = () =>
    stack.report<{ setAside: object[] }>([
      ...['ledger', 'month', '--period', '2020-01', '--all', '--out', stack.dataDir],
      ...['--key', join(stack.dataDir, 'seal-private.pem')],
    ]);
  const shown = async (said: RegExp) =>
    expect(await stack.report(['ledger', 'find', reference])).toMatchObject({
      entries: [{ workspaceId, credits: 0, unreadable: expect.stringMatching(said) }],
    });
  await shown(/^cannot be read: /);
  const problems = [{ workspaceId, revision: String(revision) }];
  expect(await month()).toMatchObject({ code: 1, ok: false, problems });
  await setAside(place, '--yes');
  await shown(/^set aside by operator:.*: INC-42$/);
  expect(await stack.report(['readings', 'unreadable'])).toMatchObject({
    passedOver: expect.arrayContaining([`${place} (CreditsAdjusted)`]),
  });
  const { setAside: skipped, ...sealed } = await month();
  expect(sealed).toMatchObject({ code: 0, ok: true, books: 0 });
  expect(skipped.at(-1)).toMatchObject({ stream });
});
