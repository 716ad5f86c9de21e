import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent } from '../log/record.js';
import type { ExpectedRevision } from '../streams/stream-writer.js';
import {
  withinCommitTimeout,
  appendBytes,
  expectedRevision,
  proposedEvent,
  streamIdentifier,
  uuidText,
  writableStreamName,
  invalidArgument,
  stoppingWrites,
  toRpcError,
  type ServerContext,
  type RpcError,
} from './context.js';

/** An append whose events are still arriving. */
interface OpenBatch {
  readonly correlationId: string;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** Milliseconds since 1970; undefined for no deadline. */
  readonly deadline: number | undefined;
  readonly events: ProposedEvent[];
  bytes: number;
  failure: Failure | undefined;
}

/** The failure of one append; the call itself stays open. */
interface Failure {
  /** Of google.rpc. */
  readonly code: number;
  readonly message: string;
  /** Message name of the details in the package event_store.client. */
  readonly type: string;
  readonly details: { serializeBinary(): Uint8Array };
}

/** google.rpc codes that the protocol uses for each failure. */
const [UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, ALREADY_EXISTS, RESOURCE_EXHAUSTED] = [
  2, 3, 4, 6, 8,
] as const;

const conflict = (expected: ExpectedRevision, current: bigint): Failure => {
  const details = new sharedPb.WrongExpectedVersion();
  if (current < 0n) details.setCurrentNoStream(new emptyPb.Empty());
  else details.setCurrentStreamRevision(String(current));
  if (expected === 'any') details.setExpectedAny(new emptyPb.Empty());
  else if (expected === 'no_stream') details.setExpectedNoStream(new emptyPb.Empty());
  else details.setExpectedStreamPosition(String(expected));
  return { code: ALREADY_EXISTS, message: 'Wrong expected version', type: 'WrongExpectedVersion', details };
};

const timedOut = (): Failure => ({
  code: DEADLINE_EXCEEDED,
  message: 'Timeout',
  type: 'Timeout',
  details: new sharedPb.Timeout(),
});

const tooLarge = (maximum: number): Failure => {
  const details = new sharedPb.MaximumAppendSizeExceeded();
  details.setMaxappendsize(maximum);
  const message = 'Maximum append size exceeded';
  return { code: INVALID_ARGUMENT, message, type: 'MaximumAppendSizeExceeded', details };
};

/** Refused before anything was written. Clients show the message when they do not know the details type. */
const badRequest = (message: string, code: number = INVALID_ARGUMENT): Failure => {
  const details = new sharedPb.BadRequest();
  details.setMessage(message);
  return { code, message, type: 'BadRequest', details };
};

/** A response: it repeats the correlation id, the stream and the expectation of the request. */
const answerTo = ({ correlationId, stream, expected }: OpenBatch): BatchAppendResp => {
  const answer = new streamsPb.BatchAppendResp();
  const id = new sharedPb.UUID();
  id.setString(correlationId);
  answer.setCorrelationId(id);
  answer.setStreamIdentifier(streamIdentifier(stream));
  if (expected === 'any') answer.setAny(new emptyPb.Empty());
  else if (expected === 'no_stream') answer.setNoStream(new emptyPb.Empty());
  else answer.setStreamPosition(String(expected));
  return answer;
};

const succeeded = (batch: OpenBatch, revision: bigint, position: bigint | undefined): BatchAppendResp => {
  const success = new streamsPb.BatchAppendResp.Success();
  if (revision < 0n) success.setNoStream(new emptyPb.Empty());
  else success.setCurrentRevision(String(revision));
  if (position === undefined) success.setNoPosition(new emptyPb.Empty());
  else {
    const at = new sharedPb.AllStreamPosition();
    at.setCommitPosition(String(position));
    at.setPreparePosition(String(position));
    success.setPosition(at);
  }
  const answer = answerTo(batch);
  answer.setSuccess(success);
  return answer;
};

const failed = (batch: OpenBatch, { code, message, type, details }: Failure): BatchAppendResp => {
  const packed = new anyPb.Any();
  packed.pack(details.serializeBinary(), `event_store.client.${type}`);
  const status = new statusPb.Status();
  status.setCode(code);
  status.setMessage(message);
  status.setDetails(packed);
  const answer = answerTo(batch);
  answer.setError(status);
  return answer;
};

type BatchOptions = BatchAppendReq.Options;

/** The time by which the append must be decided. */
const deadlineOf = (options: BatchOptions): number | undefined => {
  const at = options.getDeadline();
  return at && at.getSeconds() * 1_000 + at.getNanos() / 1_000_000;
};

/** Assembles the messages of one call into appends. Each append is a batch with a correlation id. */
class Batches {
  private readonly open = new Map<string, OpenBatch>();

  constructor(private readonly maxBytes: number) {}

  /** Adds a message; returns the append if this message completes it. */
  take(request: BatchAppendReq): OpenBatch | undefined {
    const correlationId = uuidText(request.getCorrelationId());
    const batch = this.open.get(correlationId) ?? this.begin(correlationId, request.getOptions());
    for (const message of request.getProposedMessagesList()) this.addTo(batch, message);
    if (!request.getIsFinal()) return undefined;
    this.open.delete(correlationId);
    return batch;
  }

  private begin(correlationId: string, options: BatchOptions | undefined): OpenBatch {
    const identity = { correlationId, stream: '', expected: 'any', deadline: undefined, bytes: 0 } as const;
    let batch: OpenBatch;
    try {
      if (!options) throw invalidArgument('The first message of an append must carry its options.');
      batch = {
        ...identity,
        stream: writableStreamName(options.getStreamIdentifier()),
        expected: expectedRevision(options),
        deadline: deadlineOf(options),
        events: [],
        failure: undefined,
      };
    } catch (error) {
      batch = { ...identity, events: [], failure: badRequest(toRpcError(error).details) };
    }
    this.open.set(correlationId, batch);
    return batch;
  }

  private addTo(batch: OpenBatch, message: BatchAppendReq.ProposedMessage): void {
    if (batch.failure) return;
    try {
      const event = proposedEvent(message);
      batch.bytes += appendBytes(event);
      batch.events.push(event);
    } catch (error) {
      batch.failure = badRequest(toRpcError(error).details);
    }
    if (batch.bytes > this.maxBytes) batch.failure = tooLarge(this.maxBytes);
    if (batch.failure) batch.events.length = 0;
  }
}

/** BatchAppend: many appends over one call. A failed append gets its own response and leaves the call open. */
export const batchAppend =
  (context: ServerContext): handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> =>
  (call) => {
    const { writer, limits, calls, now, report } = context;
    const batches = new Batches(limits.maxAppendBytes);
    let over = false;
    let unanswered = 0;
    let inputEnded = false;

    const finish = (error?: RpcError): void => {
      if (over) return;
      over = true;
      forget();
      if (error) call.emit('error', error);
      else call.end();
    };
    const forget = calls.add(() => {
      finish(stoppingWrites());
    });

    const decide = async (batch: OpenBatch): Promise<BatchAppendResp> => {
      if (batch.failure) return failed(batch, batch.failure);
      if (batch.deadline !== undefined && batch.deadline < now()) return failed(batch, timedOut());
      const refusal = context.admission.refusal();
      if (refusal !== undefined) return failed(batch, badRequest(refusal, RESOURCE_EXHAUSTED));
      const write = writer.append(batch.stream, batch.expected, batch.events);
      const outcome = await withinCommitTimeout(write, limits.commitTimeoutMs);
      switch (outcome.kind) {
        case 'written':
          return succeeded(batch, outcome.revision, outcome.position);
        case 'conflict':
          return failed(batch, conflict(batch.expected, outcome.current));
        case 'timed-out':
          return failed(batch, timedOut());
      }
    };

    const answer = async (batch: OpenBatch): Promise<void> => {
      unanswered++;
      let response: BatchAppendResp;
      try {
        response = await decide(batch);
      } catch (error) {
        report(`An append failed: ${String(error)}`);
        const message = toRpcError(error).details;
        response = failed(batch, {
          code: UNKNOWN,
          message,
          type: 'Unknown',
          details: new sharedPb.Unknown(),
        });
      }
      unanswered--;
      if (over) return;
      call.write(response);
      if (inputEnded && unanswered === 0) finish();
    };

    call.on('data', (request: BatchAppendReq) => {
      if (over) return;
      if (calls.stopping) {
        finish(stoppingWrites());
        return;
      }
      try {
        const batch = batches.take(request);
        if (batch) void answer(batch);
      } catch (error) {
        finish(toRpcError(error));
      }
    });
    // As EventStoreDB: the last answer ends the call. One that waits for no answer stays open until the client cancels it.
    call.on('end', () => (inputEnded = true));
    for (const event of ['cancelled', 'error', 'close'] as const) {
      call.on(event, () => {
        over = true;
        forget();
      });
    }
  };
