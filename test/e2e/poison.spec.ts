import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Integrator, person, until } from '../support/integrator.js';
import { Random } from '../support/random.js';
import { operatedStack } from './support/operated-stack.js';
import { Forger, type MalformedEvent, type Targets } from './support/malformed-events.js';

/** The long form: POISON_DRAWS=200 npm test -- test/e2e/poison. POISON_SEED repeats a run. */
const DRAWS = Number(process.env['POISON_DRAWS'] ?? 4);
const SEED = Number(process.env['POISON_SEED'] ?? Date.now() % 1_000_000);
const MOST_COMMANDS = 5;
/** Draws between two checks of everything. */
const CHECK_EVERY = 20;

interface Finding {
  readonly check: string;
  readonly level: string;
  readonly message: string;
  readonly advice: string;
}

const operated = operatedStack();
const { json } = operated;
const random = new Random(SEED);
let forger: Forger;
let other: Integrator;
let usual: ReadonlySet<string>;

beforeAll(async () => {
  forger = new Forger(operated.stack.eventStoreUrl, random);
  other = await Integrator.open(operated.stack, 100_000);
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
  const endpoint = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
    body: { url: 'https://receiver.example.com/hooks' },
  });
  return { workspaceId: customer.workspaceId, readingId, endpointId: endpoint.body.endpointId };
};

const handled = () =>
  until(
    async () =>
      ((await json(['projections', 'lag']))['consumers'] as { events: number }[]).every(
        ({ events }) => events === 0,
      ),
    () => 'every consumer has handled or parked the event',
  );

/** Does what doctor says, until it is clean. @returns the commands given, doctor's own included */
const followDoctor = async (): Promise<readonly string[]> => {
  const given: string[] = [];
  for (;;) {
    given.push('ops doctor');
    const found = await unusual();
    if (found.length === 0) return given;
    const place = found
      .map(({ advice }) => /ops quarantine add (.+) --reason/.exec(advice)?.[1])
      .find(Boolean);
    if (place === undefined) throw new Error(`Doctor knows no way out of ${JSON.stringify(found)}`);
    given.push(`ops quarantine add ${place}`);
    await operated.stack.ops(['quarantine', 'add', place, '--reason', 'drawn by a test']);
    if (given.length > MOST_COMMANDS) throw new Error(`Too many commands: ${given.join('; ')}`);
  }
};

const everythingHolds = async (): Promise<void> => {
  await operated.stack.ops(['projections', 'replay', '--all']);
  expect(await operated.stack.ops(['ledger', 'reconcile', '--all'])).toMatchObject({ ok: true });
  expect(await operated.stack.ops(['ledger', 'verify', '--all'])).toMatchObject({ ok: true });
  const { readingId } = (await other.create(person())).body;
  expect(await other.untilEnded(readingId)).toMatchObject({ status: 'completed' });
};

it(`After a malformed event, at most ${MOST_COMMANDS} commands make everything whole (seed ${SEED})`, async () => {
  const most: (MalformedEvent & { commands: number })[] = [];
  let aim = await targets();
  for (let draw = 1; draw <= DRAWS; draw += 1) {
    if (draw % 10 === 0) aim = await targets();
    const event = await forger.append(aim);
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
  const { quarantined } = (await operated.stack.ops(['quarantine', 'list'])) as { quarantined: object[] };
  // Streams that no reader knows, such as another product's, keep nothing parked.
  expect(quarantined).toHaveLength(most.filter(({ stream }) => !stream.startsWith('unheard-')).length);
}, 3_600_000);
