import { RequestReading, type RequestReadingResult } from '#readings/application/request-reading.js';
import { RepublishDocument } from '#publishing/contracts/index.js';
import { EraseReading } from '#readings/contracts/index.js';
import type { World } from './world.js';
import { requestedBy } from '#event-sourcing/core/request-context.js';

const PATIENCE_MS = 5_000;
const MOST_TRIES = 6;
const REQUEST_LOST = 0.03;
const ANSWER_LOST = 0.03;
const SENT_TWICE = 0.2;

export interface Customer {
  readonly workspaceId: string;
  /** The mode of its key. */
  readonly livemode: boolean;
  readonly idempotencyKey: string;
  /** Readings that were accepted, as far as the customer knows. */
  readonly accepted: Set<string>;
}

/** Probability that a customer erases a reading, and the time after its acceptance (ms). */
const ERASES = 0.4;
/** Probability that a customer has further versions of a document made. */
const REPUBLISHES = 0.4;
const ERASES_WITHIN_MS = [300, 2_000, 30_000] as const;

const REQUEST = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  input: {
    name: { firstNames: ['Camille'], middleNames: [], lastNames: ['Laurent'] },
    dateOfBirth: '1990-06-15',
    grammaticalProfile: { subjectGender: 'feminine' },
  },
} as const;

/** Requests one reading until it has an answer or gives up, over either API, sometimes over both at once. */
export const buy = async (world: World, customer: Customer): Promise<void> => {
  const { scheduler } = world;
  const { random } = scheduler;
  await scheduler.sleep(random.between(0, 3_000));
  const tries = random.between(1, MOST_TRIES);
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const sent = random.chance(SENT_TWICE) ? [0, 1] : [random.between(0, 1)];
    const answers = await Promise.all(sent.map((api) => ask(world, customer, api, attempt)));
    if (answers.some((answer) => answer !== null)) {
      await Promise.all([eraseLater(world, customer), republishLater(world, customer)]);
      return;
    }
    await scheduler.sleep(random.between(10, 1_000));
  }
};

let requests = 0;

/** One request over a network that loses requests and answers. @returns `null` without a definite answer */
const ask = async (
  { scheduler, apis }: World,
  customer: Customer,
  api: number,
  attempt: number,
): Promise<RequestReadingResult | null> => {
  const handler = apis[api]?.requests;
  const { random, isRough } = scheduler;
  if (!handler || (isRough && random.chance(REQUEST_LOST))) return null;
  requests += 1;
  const by = requestedBy('apiKey:k', `req_${attempt}.${api}.${requests}`);
  const command = new RequestReading(
    customer.workspaceId,
    customer.livemode,
    REQUEST,
    customer.idempotencyKey,
    by,
  );
  const answer = await Promise.race([
    handler.execute(command).catch(() => null),
    scheduler.sleep(PATIENCE_MS).then(() => null),
  ]);
  if (answer === null || apis[api]?.requests !== handler || (isRough && random.chance(ANSWER_LOST)))
    return null;
  if (answer.outcome === 'accepted' || answer.outcome === 'replayed')
    customer.accepted.add(answer.reading.readingId);
  return answer;
};

/** Requests erasure at some moment of the reading's life, over either API, until it has an answer or gives up. */
const eraseLater = async ({ scheduler, apis }: World, { accepted, workspaceId }: Customer): Promise<void> => {
  const { random } = scheduler;
  const [readingId] = accepted;
  if (readingId === undefined || !random.chance(ERASES)) return;
  await scheduler.sleep(random.between(0, random.pick(ERASES_WITHIN_MS)));
  const tries = random.between(1, MOST_TRIES);
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const api = apis[random.between(0, 1)];
    const answer = await Promise.race([
      api?.erasures
        .execute(new EraseReading(readingId, workspaceId, requestedBy('user:u', `req_erase.${attempt}`)))
        .catch(() => null),
      scheduler.sleep(PATIENCE_MS).then(() => null),
    ]);
    if (answer) return;
    await scheduler.sleep(random.between(10, 1_000));
  }
};

/** Has further versions made at some moments of the reading's life, over either API, sometimes over both at once. */
const republishLater = async (
  { scheduler, apis }: World,
  { accepted, workspaceId }: Customer,
): Promise<void> => {
  const { random } = scheduler;
  const [readingId] = accepted;
  if (readingId === undefined || !random.chance(REPUBLISHES)) return;
  const tries = random.between(1, MOST_TRIES);
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    await scheduler.sleep(random.between(10, random.pick(ERASES_WITHIN_MS)));
    const by = requestedBy('apiKey:k', `req_republish.${attempt}`);
    const command = new RepublishDocument(readingId, workspaceId, { onlyIfTextsChanged: false }, by);
    const sent = random.chance(SENT_TWICE) ? [0, 1] : [random.between(0, 1)];
    await Promise.race([
      Promise.all(sent.map(async (api) => apis[api]?.republications.execute(command).catch(() => null))),
      scheduler.sleep(PATIENCE_MS),
    ]);
  }
};
