import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, type EventData, type JSONType } from '@eventstore/db-client';
import type { Random } from '../../support/random.js';

/** The streams of a customer that runs. */
export interface Targets {
  readonly workspaceId: string;
  readonly readingId: string;
  readonly endpointId: string;
  /** The stream of a pack that the customer bought. */
  readonly orderLineId: string;
}

/** A malformed event: where another program appended it, and in which way it is wrong. */
export interface MalformedEvent {
  readonly stream: string;
  readonly type: string;
  readonly fault: Fault;
}

const FAULTS = [
  'bad JSON',
  'bytes',
  'unknown type',
  'unknown version',
  'version of the past',
  'wrong fields',
  'no metadata',
  'odd metadata',
] as const;
/** The event itself is right, and stands in a stream where it does not belong. */
const MISPLACED = ['of another stream type', 'of another workspace'] as const;
type Fault = (typeof FAULTS)[number] | (typeof MISPLACED)[number];

const TYPES = {
  reading: ['ReadingRequested', 'ReadingStarted', 'ReadingCompleted', 'ReadingFailed', 'ReadingErased'],
  publication: ['PublicationRequested', 'DocumentPublished', 'PublicationWithdrawn'],
  credits: [
    'BookOpened',
    'PackPurchased',
    'CreditsReserved',
    'CreditsCaptured',
    'CreditsReleased',
    'PeriodCarried',
    'PeriodClosed',
  ],
  testbook: ['BookOpened', 'CreditsAdjusted', 'CreditsReserved', 'CreditsCaptured', 'CreditsReleased'],
  orderline: ['OrderLineClaimed'],
  workspace: ['WorkspaceOpened', 'ApiKeyIssued', 'ApiKeyRevoked'],
  webhookEndpoint: ['WebhookEndpointCreated', 'WebhookEndpointUpdated', 'WebhookEndpointDeleted'],
  setAside: ['EventSetAside'],
} as const;

type Category = keyof typeof TYPES;
const CATEGORIES = Object.keys(TYPES) as [Category, ...Category[]];
/** Those with streams of a customer. */
const OWNED = CATEGORIES.filter((category) => category !== 'setAside') as [Category, ...Category[]];

/** Draws events that no program of this service would append, and appends each at the end of its stream. */
export class Forger {
  private readonly client: EventStoreDBClient;

  constructor(
    eventStoreUrl: string,
    private readonly random: Random,
  ) {
    this.client = EventStoreDBClient.connectionString(eventStoreUrl);
  }

  close(): Promise<void> {
    return this.client.dispose();
  }

  /** @param others streams of another customer */
  async append(targets: Targets, others: Targets): Promise<MalformedEvent> {
    const { random } = this;
    if (random.chance(1 / 3)) return this.misplace(targets, others);
    const category = random.pick(CATEGORIES);
    // Every third stands in a stream that does not exist, or that is of another category than the event.
    const isForeign = random.chance(1 / 3);
    const stream = isForeign ? foreignStream(random, category, targets) : streamOf(category, targets);
    const fault = random.pick(FAULTS);
    const typesOf: readonly [string, ...string[]] = TYPES[isForeign ? random.pick(CATEGORIES) : category];
    const type = fault === 'unknown type' ? random.pick(['Vanished', 'constructor']) : random.pick(typesOf);
    await this.client.appendToStream(stream, [eventWith(fault, type, targets)]);
    return { stream, type, fault };
  }

  /** Appends one event; without metadata unless it is well formed. @returns its revision */
  async appendTo(stream: string, type: string, data: JSONType, isWellFormed = false): Promise<bigint> {
    const metadata = metadataOf('', 1);
    const event = isWellFormed ? jsonEvent({ type, data, metadata }) : jsonEvent({ type, data });
    const { nextExpectedRevision } = await this.client.appendToStream(stream, [event]);
    return nextExpectedRevision;
  }

  private async misplace(targets: Targets, others: Targets): Promise<MalformedEvent> {
    const { random } = this;
    const fault = random.pick(MISPLACED);
    const category = random.pick(fault === 'of another workspace' ? OWNED : CATEGORIES);
    const from =
      fault === 'of another workspace'
        ? streamOf(category, others)
        : streamOf(random.pick(OWNED.filter((one) => one !== category) as [Category]), targets);
    const events: { type: string; data: JSONType; metadata: JSONType }[] = [];
    for await (const { event } of this.client.readStream(from))
      events.push(event as unknown as (typeof events)[number]);
    const { type, data, metadata } = random.pick(events as [(typeof events)[number]]);
    const stream = streamOf(category, targets);
    await this.client.appendToStream(stream, [jsonEvent({ type, data, metadata })]);
    return { stream, type, fault };
  }
}

const streamOf = (
  category: Category,
  { workspaceId, readingId, endpointId, orderLineId }: Targets,
): string => {
  const ids: Readonly<Record<Category, string>> = {
    reading: readingId,
    publication: readingId,
    credits: workspaceId,
    testbook: workspaceId,
    orderline: orderLineId,
    workspace: workspaceId,
    webhookEndpoint: endpointId,
    setAside: 'events',
  };
  return `${category}-${ids[category]}`;
};

const foreignStream = (random: Random, category: Category, targets: Targets): string => {
  const [name] = streamOf(category, targets).split('-');
  return random.pick([
    `${name}-${randomUUID()}`,
    `${name}-no uuid`,
    `${name}-ws_unknown`,
    `unheard-${randomUUID()}`,
  ]);
};

const metadataOf = (workspaceId: string, schemaVersion: number) => ({
  correlationId: 'req_forged',
  causationId: 'req_forged',
  workspaceId,
  actor: 'system:forger',
  occurredAt: new Date().toISOString(),
  schemaVersion,
});

const eventWith = (fault: Fault, type: string, { workspaceId }: Targets): EventData => {
  const version = fault === 'unknown version' ? 99 : fault === 'version of the past' ? -1 : 1;
  const metadata = metadataOf(workspaceId, version);
  const event = {
    id: randomUUID(),
    type,
    contentType: 'application/json',
    data: { wrong: [true] },
    metadata,
  };
  switch (fault) {
    case 'bad JSON':
      return asJson({ ...event, data: Buffer.from('{"workspaceId":') });
    case 'bytes':
      return { ...event, contentType: 'application/octet-stream', data: Buffer.from([0, 255, 254]) };
    case 'no metadata':
      return { ...event, metadata: undefined } as unknown as EventData;
    case 'odd metadata':
      return { ...event, metadata: ['no', 'object'] } as unknown as EventData;
    default:
      return event as EventData;
  }
};

/** The client writes whole JSON values only: it is told that these are JSON, and then that they are bytes. */
const asJson = (event: { readonly data: Uint8Array }): EventData => {
  let asked = 0;
  return Object.defineProperty({ ...event }, 'contentType', {
    enumerable: true,
    get: () => ((asked += 1) === 1 ? 'application/json' : 'application/octet-stream'),
  }) as unknown as EventData;
};
