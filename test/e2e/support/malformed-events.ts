import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, type EventData, type JSONType } from '@eventstore/db-client';
import { CATALOGUES } from '../../golden/catalogues.js';
import type { Random } from '../../support/random.js';

/** Streams of one customer. */
export interface Targets {
  readonly workspaceId: string;
  /** Published. */
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
  // The event itself is right, and stands in the same stream of another workspace.
  'of another workspace',
] as const;
type Fault = (typeof FAULTS)[number];

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
    const [own, foreign] = [streamsOf(targets), streamsOf(others)];
    const place = random.between(0, own.length - 1);
    const [types, stream] = own[place]!;
    const fault = random.pick(FAULTS);
    if (fault === 'of another workspace') {
      const events: { type: string; data: JSONType; metadata: JSONType }[] = [];
      for await (const { event } of this.client.readStream(foreign[place]![1]))
        events.push(event as unknown as (typeof events)[number]);
      const { type, data, metadata } = random.pick(events as [(typeof events)[number]]);
      await this.client.appendToStream(stream, [jsonEvent({ type, data, metadata })]);
      return { stream, type, fault };
    }
    // Every third stands in a stream that does not exist.
    const at = random.chance(1 / 3) ? `${stream.split('-')[0]}-${randomUUID()}` : stream;
    const type = fault === 'unknown type' ? random.pick(['Vanished', 'constructor']) : random.pick(types);
    await this.client.appendToStream(at, [eventWith(fault, type, targets)]);
    return { stream: at, type, fault };
  }

  /** Appends one event; without metadata unless it is well formed. @returns its revision */
  async appendTo(stream: string, type: string, data: JSONType, isWellFormed = false): Promise<bigint> {
    const metadata = metadataOf('', 1);
    const event = isWellFormed ? jsonEvent({ type, data, metadata }) : jsonEvent({ type, data });
    const { nextExpectedRevision } = await this.client.appendToStream(stream, [event]);
    return nextExpectedRevision;
  }
}

type Types = readonly [string, ...string[]];
/** The streams of a customer, each with the types of its events. */
const streamsOf = ({
  workspaceId,
  readingId,
  endpointId,
  orderLineId,
}: Targets): readonly (readonly [Types, string])[] => {
  const { reading, publication, credits, orderline, workspace, webhookEndpoint } = CATALOGUES;
  const typesOf = ({ definitions }: { readonly definitions: object }) =>
    Object.keys(definitions) as unknown as Types;
  return [
    [typesOf(reading), `reading-${readingId}`],
    [typesOf(publication), `publication-${readingId}`],
    [typesOf(credits), `credits-${workspaceId}`],
    [typesOf(credits), `testbook-${workspaceId}`],
    [typesOf(orderline), `orderline-${orderLineId}`],
    [typesOf(workspace), `workspace-${workspaceId}`],
    [typesOf(webhookEndpoint), `webhookEndpoint-${endpointId}`],
  ];
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
