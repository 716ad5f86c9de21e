import { ProtobufFields } from './protobuf-fields.js';
import type { ExpectedRevision } from './event-store.js';

/** What the server answers to one append of a call. */
export interface AppendAnswer {
  /** The canonical text of a UUID. */
  readonly correlationId: string;
  readonly outcome: AppendWritten | AppendRefused;
}

export interface AppendWritten {
  readonly kind: 'written';
  /** Of the last event. */
  readonly revision: bigint;
  /** Commit position of the last event. 0 when the server tells none. */
  readonly position: bigint;
}

export interface AppendRefused {
  readonly kind: 'refused';
  /** The name of a message of the protocol, such as `WrongExpectedVersion`. Empty: the server gives no details. */
  readonly reason: string;
  readonly message: string;
  /** Of a wrong expected revision: what the stream is at. */
  readonly actual: ExpectedRevision;
}

/** Fields of `BatchAppendResp`, `Success`, `Status`, `Any` and `WrongExpectedVersion` of the protocol. */
const ANSWER = { correlationId: 1, error: 2, success: 3 } as const;
const SUCCESS = { revision: 1, position: 3 } as const;
const POSITION_COMMIT = 1;
const STATUS = { message: 2, details: 3 } as const;
const ANY = { type: 1, value: 2 } as const;
const CURRENT_REVISION = 1;
const ID = { structured: 1, text: 2 } as const;
const HALVES = { most: 1, least: 2 } as const;

/** @throws Error when the message is cut off */
export const decodeAppendAnswer = (message: Buffer): AppendAnswer => {
  const answer = new ProtobufFields(message);
  let correlationId = '';
  let outcome: AppendAnswer['outcome'] = { kind: 'refused', reason: '', message: '', actual: 'no_stream' };
  while (answer.next()) {
    if (answer.field === ANSWER.correlationId) correlationId = uuidOf(answer.inner());
    else if (answer.field === ANSWER.success) outcome = writtenOf(answer.inner());
    else if (answer.field === ANSWER.error) outcome = refusedOf(answer.inner());
  }
  return { correlationId, outcome };
};

const writtenOf = (success: ProtobufFields): AppendWritten => {
  let [revision, position] = [0n, 0n];
  while (success.next()) {
    if (success.field === SUCCESS.revision) revision = success.uint64();
    else if (success.field === SUCCESS.position) position = numberIn(success.inner(), POSITION_COMMIT) ?? 0n;
  }
  return { kind: 'written', revision, position };
};

const refusedOf = (status: ProtobufFields): AppendRefused => {
  let [reason, message] = ['', ''];
  let actual: ExpectedRevision = 'no_stream';
  while (status.next()) {
    if (status.field === STATUS.message) message = status.text();
    if (status.field !== STATUS.details) continue;
    const details = status.inner();
    while (details.next()) {
      if (details.field === ANY.type) reason = lastName(details.text());
      else if (details.field === ANY.value) actual = revisionIn(details.inner(), reason);
    }
  }
  return { kind: 'refused', reason, message, actual };
};

/** Of `type.googleapis.com/event_store.client.StreamDeleted`. */
const lastName = (type: string): string => type.slice(type.lastIndexOf('.') + 1);

const revisionIn = (details: ProtobufFields, reason: string): ExpectedRevision =>
  reason === 'WrongExpectedVersion' ? (numberIn(details, CURRENT_REVISION) ?? 'no_stream') : 'no_stream';

const numberIn = (message: ProtobufFields, field: number): bigint | undefined => {
  while (message.next()) if (message.field === field) return message.uint64();
  return undefined;
};

/** Servers answer with two halves of 64 bits, although they were asked with text. */
const uuidOf = (id: ProtobufFields): string => {
  while (id.next()) {
    if (id.field === ID.text) return id.text();
    if (id.field === ID.structured) return joined(id.inner());
  }
  return '';
};

const joined = (halves: ProtobufFields): string => {
  let [most, least] = [0n, 0n];
  while (halves.next()) {
    if (halves.field === HALVES.most) most = halves.uint64();
    else if (halves.field === HALVES.least) least = halves.uint64();
  }
  const digits = ((most << 64n) | least).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
