import { randomUUID } from 'node:crypto';
import { convertToCommandError, DeadlineExceededError, NotLeaderError } from '@eventstore/db-client';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { EventToAppend } from '../core/event.js';
import {
  classify,
  noAnswer,
  AppendTooLarge,
  isAccessDenied,
  StoreUnavailable,
  WrongExpectedRevision,
} from './errors.js';
import { MOST_APPEND_BYTES, type AppendResult, type ExpectedRevision } from './event-store.js';
import type { AppendCall, StoreClient } from './store-client.js';

/** The appends of one connection. */
export interface Appends {
  /** All appends share one call, which stays open. */
  readonly openCalls: 0 | 1;
  /** @throws AppendTooLarge, WrongExpectedRevision, StoreUnavailable, Error as the server refuses */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>;
  close(): Promise<void>;
}

interface Waiting {
  readonly id: string;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** Of the call to which it was sent, with its client. */
  sent?: { readonly bank: Map<string, Waiting>; readonly by: Promise<StoreClient> };
  isSettled: boolean;
  readonly settle: (outcome: AppendResult | Error) => void;
}

/** Appends in a row. */
const MAX_UNANSWERED = 3;

/**
 * Appends with a client of their own, in calls of `Streams.BatchAppend` with the package's messages. Each call has its own
 * bank of waiting appends. The client's own appends have one bank for the process: when one call breaks, it rejects those
 * of all calls, and a late answer to one of them ends the process.
 *
 * Another client opens after an outcome that a node left unknown, because the node may lead no longer, and after several
 * appends in a row without an answer, because the connection may be dead.
 * @param open makes a client; `search`: of the node that leads, since the one that the address names may not
 * @param timeoutMs an append without an answer within this has an unknown outcome; the client enforces no deadline itself
 */
export const openAppends = (open: (search: boolean) => Promise<StoreClient>, timeoutMs: number): Appends => {
  const waitingFor = new WeakMap<AppendCall, Map<string, Waiting>>();
  /** Whether a node has refused as one that leads no longer. */
  let search = false;
  let closed = false;
  let current: Promise<StoreClient> | null = null;
  /** Appends without an answer since the last answer to any. */
  let unanswered = 0;

  const leave = async (left: Promise<StoreClient> | null): Promise<void> => {
    if (left === null || left !== current) return;
    [current, unanswered] = [null, 0];
    await left.then(
      (client) => client.close(),
      () => undefined,
    );
  };

  const listen = (used: Promise<StoreClient>) => (call: AppendCall) => {
    const waiting = new Map<string, Waiting>();
    waitingFor.set(call, waiting);
    const failAll = (error: Error): void => {
      for (const each of waiting.values()) each.settle(error);
    };
    return call
      .on('data', (answer: BatchAppendResp) => {
        unanswered = 0;
        const asked = waiting.get(textOf(answer.getCorrelationId()));
        if (!asked) return;
        const outcome = outcomeOf(answer, asked);
        const isInDoubt = outcome === NODE_IN_DOUBT;
        asked.settle(isInDoubt ? new StoreUnavailable('The node refused the append', true) : outcome);
        search ||= isInDoubt;
        if (isInDoubt) void leave(used);
      })
      .on('error', (raw: Error) => {
        const error = convertToCommandError(raw);
        failAll(endOfCall(error));
        // The client goes to the node that leads by itself.
        if (!(error instanceof NotLeaderError)) void leave(used);
      })
      .on('end', () => {
        failAll(new StoreUnavailable('The event store ended the call', true));
        // Otherwise the client would go on with it.
        call.end();
      });
  };

  const send = async (request: BatchAppendReq, append: Waiting): Promise<void> => {
    if (closed) throw new StoreUnavailable('The connection to the event store is closed', false);
    const used = (current ??= open(search));
    try {
      const call = await (await used).appendCall(listen(used));
      if (append.isSettled) return;
      append.sent = { bank: waitingFor.get(call)!, by: used };
      append.sent.bank.set(append.id, append);
      call.write(request);
    } catch (error) {
      // The client found no node.
      void leave(used);
      throw classify(error, false);
    }
  };

  return {
    get openCalls() {
      return current ? 1 : 0;
    },
    append: (stream, expected, events) =>
      new Promise((resolve, reject) => {
        const id = randomUUID();
        const request = requestOf(id, stream, expected, events);
        const append: Waiting = {
          id,
          stream,
          expected,
          isSettled: false,
          settle: (outcome) => {
            if (append.isSettled) return;
            append.isSettled = true;
            append.sent?.bank.delete(id);
            clearTimeout(late);
            if (outcome instanceof Error) reject(outcome);
            else resolve(outcome);
          },
        };
        const late = setTimeout(() => {
          append.settle(noAnswer(`append to ${stream}`, timeoutMs, append.sent !== undefined));
          unanswered += 1;
          if (append.sent && unanswered >= MAX_UNANSWERED) void leave(append.sent.by);
        }, timeoutMs);
        send(request, append).catch((error: unknown) => append.settle(error as Error));
      }),
    close: () => {
      closed = true;
      return leave(current);
    },
  };
};

const TEXT = new TextEncoder();

/**
 * One append with all its events. It names no deadline: that is an instant by our clock, and a server whose clock is ahead
 * would refuse every append. The server's own time limit applies.
 * @throws AppendTooLarge, counted as the server does: types twice
 */
const requestOf = (
  id: string,
  stream: string,
  expected: ExpectedRevision,
  events: readonly EventToAppend[],
): BatchAppendReq => {
  const options = new streamsPb.BatchAppendReq.Options();
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(TEXT.encode(stream));
  options.setStreamIdentifier(identifier);
  if (typeof expected === 'bigint') options.setStreamPosition(String(expected));
  else options.setNoStream(new sharedPb.Empty());
  const request = new streamsPb.BatchAppendReq();
  request.setCorrelationId(uuidOf(id));
  request.setOptions(options);
  request.setIsFinal(true);
  let bytes = 0;
  for (const { id: eventId, type, data, metadata } of events) {
    const { correlationId: $correlationId, causationId: $causationId } = metadata;
    const message = new streamsPb.BatchAppendReq.ProposedMessage();
    const [body, head] = [data, { ...metadata, $correlationId, $causationId }].map((value) =>
      TEXT.encode(JSON.stringify(value)),
    );
    bytes += body!.length + head!.length + 2 * type.length;
    message.setId(uuidOf(eventId));
    message.getMetadataMap().set('type', type).set('content-type', 'application/json');
    message.setData(body!);
    message.setCustomMetadata(head!);
    request.addProposedMessages(message);
  }
  if (bytes > MOST_APPEND_BYTES)
    throw new AppendTooLarge(`${bytes} bytes for ${stream} are more than ${MOST_APPEND_BYTES} in one append`);
  return request;
};

const uuidOf = (text: string): UUID => {
  const id = new sharedPb.UUID();
  id.setString(text);
  return id;
};

/** Servers answer with two halves of 64 bits, although they were asked with text. */
const textOf = (id: UUID | undefined): string => {
  const halves = id?.getStructured();
  if (!halves) return id?.getString() ?? '';
  const digits = [halves.getMostSignificantBits(), halves.getLeastSignificantBits()].map((half) =>
    BigInt.asUintN(64, BigInt(half)).toString(16).padStart(16, '0'),
  );
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** A refusal that says nothing of the append: for example, that the node leads no longer. */
const NODE_IN_DOUBT = 'node in doubt';

/** The client's names of the refusals that we know. */
const TYPES: Readonly<Record<string, string>> = {
  StreamDeleted: 'stream-deleted',
  AccessDenied: 'access-denied',
  MaximumAppendSizeExceeded: 'maximum-append-size-exceeded',
};

const outcomeOf = (
  answer: BatchAppendResp,
  { stream, expected }: Waiting,
): AppendResult | Error | typeof NODE_IN_DOUBT => {
  const success = answer.getSuccess();
  if (success)
    return {
      revision: BigInt(success.getCurrentRevision()),
      position: BigInt(success.getPosition()?.getCommitPosition() ?? 0),
    };
  const refused = answer.getError();
  const details = refused?.getDetails();
  const name = details?.getTypeName() ?? '';
  const reason = name.slice(name.lastIndexOf('.') + 1);
  if (reason === 'WrongExpectedVersion') {
    const wrong = details!.unpack(
      (encoded) => sharedPb.WrongExpectedVersion.deserializeBinary(encoded),
      name,
    );
    const isThere = wrong?.hasCurrentStreamRevision() ?? false;
    return new WrongExpectedRevision(
      stream,
      expected,
      isThere ? BigInt(wrong!.getCurrentStreamRevision()) : 'no_stream',
    );
  }
  if (reason === 'Timeout') return classify(new DeadlineExceededError(), true) as Error;
  const said = `The event store refused an append to ${stream}: ${reason} ${refused?.getMessage() ?? ''}`;
  const error = Object.assign(new Error(said), { type: TYPES[reason] ?? 'unknown', streamName: stream });
  const known = classify(error, true) as Error;
  return known instanceof StoreUnavailable ? NODE_IN_DOUBT : known;
};

/** Whatever ended the call: it says nothing of one append, unless the login has no right to any. */
const endOfCall = (error: Error): Error => {
  const known = classify(error, true) as Error;
  return known === error && !isAccessDenied(error)
    ? new StoreUnavailable('The event store ended the call', true, { cause: error })
    : known;
};
