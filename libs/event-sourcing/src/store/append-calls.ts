import { randomUUID } from 'node:crypto';
import { Client as GrpcClient, type ClientDuplexStream } from '@grpc/grpc-js';
import type { EventToAppend } from '../core/event.js';
import { decodeAppendAnswer, type AppendAnswer, type AppendRefused } from './append-answer.js';
import { encodeAppendRequest } from './append-request.js';
import { classify, noAnswer } from './classify.js';
import type { StoreClient } from './clients/client.js';
import { isAccessDenied, StoreUnavailable, WrongExpectedRevision } from './errors.js';
import type { AppendResult, ExpectedRevision } from './event-store.js';
import { sendTogether } from './send-together.js';

const PATH = '/event_store.client.streams.Streams/BatchAppend';

export type AppendCall = ClientDuplexStream<Buffer, AppendAnswer>;

interface Waiting {
  readonly correlationId: string;
  readonly message: Buffer;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** Where the answer is awaited, once the append is sent. */
  sentTo?: Map<string, Waiting>;
  settled: boolean;
  settle(outcome: AppendResult | Error): void;
}

/** The appends of one client. They share a call as long as it stands, and leave together when they come together. */
export interface AppendCalls {
  /** @throws AppendTooLarge, WrongExpectedRevision, StoreUnavailable, Error as the server refuses */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>;
}

/**
 * Makes calls of `Streams.BatchAppend` on the client's channel. The clients' own appends encode and decode each message
 * in two steps, and share one bank of waiting appends between connections, in which one broken call fails all.
 * @param timeoutMs an append without an answer within this has an unknown outcome
 */
export const openAppendCalls = ({ internals }: StoreClient, timeoutMs: number): AppendCalls => {
  const calls = new WeakMap<GrpcClient, AppendCall>();
  const waitingFor = new WeakMap<AppendCall, Map<string, Waiting>>();
  let gathered: Waiting[] = [];

  const current = internals.GRPCStreamCreator(
    GrpcClient,
    'append',
    (client) => {
      const waiting = new Map<string, Waiting>();
      const call: AppendCall = client.makeBidiStreamRequest(
        PATH,
        (bytes: Buffer) => bytes,
        decodeAppendAnswer,
        ...internals.callArguments({ requiresLeader: true }, { deadline: Infinity }),
      );
      const failAll = (error: Error): void => {
        for (const each of waiting.values()) each.settle(error);
      };
      call.on('data', ({ correlationId, outcome }: AppendAnswer) => {
        const asked = waiting.get(correlationId);
        asked?.settle(outcome.kind === 'written' ? outcome : refusal(outcome, asked));
      });
      call.on('error', (error: Error) => failAll(endOfCall(error)));
      call.on('end', () => {
        failAll(new StoreUnavailable('The event store ended the call', true));
        // Otherwise the client would go on with it.
        call.end();
      });
      waitingFor.set(call, waiting);
      return call;
    },
    calls,
  );

  /** What was appended in one turn of the event loop. */
  const send = async (): Promise<void> => {
    const batch = gathered;
    gathered = [];
    try {
      const call = await current();
      const waiting = waitingFor.get(call)!;
      const open = batch.filter(({ settled }) => !settled);
      for (const append of open) {
        append.sentTo = waiting;
        waiting.set(append.correlationId, append);
      }
      sendTogether(
        call,
        open.map(({ message }) => message),
      );
    } catch (error) {
      // The client found no node.
      for (const append of batch) append.settle(classify(error, true) as Error);
    }
  };

  return {
    append: (stream, expected, events) =>
      new Promise((resolve, reject) => {
        const correlationId = randomUUID();
        const message = encodeAppendRequest({ correlationId, stream, expected, events });
        const append: Waiting = {
          correlationId,
          message,
          stream,
          expected,
          settled: false,
          settle(outcome) {
            if (append.settled) return;
            append.settled = true;
            append.sentTo?.delete(correlationId);
            clearTimeout(late);
            if (outcome instanceof Error) reject(outcome);
            else resolve({ revision: outcome.revision, position: outcome.position });
          },
        };
        const late = setTimeout(() => {
          append.settle(noAnswer(`append to ${stream}`, timeoutMs, true));
        }, timeoutMs);
        gathered.push(append);
        if (gathered.length === 1) setImmediate(() => void send());
      }),
  };
};

/** The clients' names of the answers that we know. */
const TYPES: Readonly<Record<string, string>> = {
  StreamDeleted: 'stream-deleted',
  AccessDenied: 'access-denied',
  Timeout: 'deadline-exceeded',
  MaximumAppendSizeExceeded: 'maximum-append-size-exceeded',
};

const refusal = ({ reason, message, actual }: AppendRefused, { stream, expected }: Waiting): Error => {
  if (reason === 'WrongExpectedVersion') return new WrongExpectedRevision(stream, expected, actual);
  const said = `The event store refused an append to ${stream}: ${reason} ${message}`;
  const error = Object.assign(new Error(said), { type: TYPES[reason] ?? 'unknown', streamName: stream });
  return classify(error, true) as Error;
};

/** Whatever ended the call: it says nothing of one append, unless the login has no right to any. */
const endOfCall = (error: Error): Error => {
  const known = classify(error, true) as Error;
  return known === error && !isAccessDenied(error)
    ? new StoreUnavailable('The event store ended the call', true, { cause: error })
    : known;
};
