import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent } from '../log/record.js';
import type { ExpectedRevision } from '../streams/append-decision.js';
import {
  badRequestFailure,
  batchFailed,
  batchSuccess,
  conflictFailure,
  deletedFailure,
  exhaustedFailure,
  timeoutFailure,
  tooLargeFailure,
  unknownFailure,
  type BatchFailure,
  type BatchIdentity,
} from './batch-answers.js';
import { withinCommitTimeout } from './commit-timeout.js';
import type { ServerContext } from './context.js';
import { gatherWrites } from './gathered-writes.js';
import { appendBytes, expectedRevision, proposedEvent, uuidText, writableStreamName } from './requests.js';
import {
  invalidArgument,
  resourceExhausted,
  stoppingWrites,
  toRpcError,
  type RpcError,
} from './rpc-error.js';

/** Maximum number of unfinished appends in one call. */
const MAX_OPEN_BATCHES = 10_000;

/** An append whose events are still arriving. */
interface OpenBatch extends BatchIdentity {
  /** Milliseconds since 1970; undefined for no deadline. */
  readonly deadline: number | undefined;
  readonly events: ProposedEvent[];
  bytes: number;
  failure: BatchFailure | undefined;
}

type BatchOptions = BatchAppendReq.Options;

/** The time by which the append must be decided. The request gives a point in time or a duration from now. */
const deadlineOf = (options: BatchOptions): number | undefined => {
  const at = options.getDeadline();
  return at && at.getSeconds() * 1_000 + at.getNanos() / 1_000_000;
};

const batchExpectation = (options: BatchOptions): ExpectedRevision =>
  expectedRevision({
    hasRevision: () => options.hasStreamPosition(),
    getRevision: () => options.getStreamPosition(),
    hasNoStream: () => options.hasNoStream(),
    hasStreamExists: () => options.hasStreamExists(),
  });

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
    if (this.open.size >= MAX_OPEN_BATCHES)
      throw resourceExhausted('Too many unfinished appends in one call.');
    const identity = {
      correlationId,
      stream: '',
      expected: 'any' as ExpectedRevision,
      deadline: undefined,
      events: [],
      bytes: 0,
    };
    let batch: OpenBatch;
    try {
      if (!options) throw invalidArgument('The first message of an append must carry its options.');
      batch = {
        ...identity,
        stream: writableStreamName(options.getStreamIdentifier()),
        expected: batchExpectation(options),
        deadline: deadlineOf(options),
        failure: undefined,
      };
    } catch (error) {
      batch = { ...identity, failure: badRequestFailure(toRpcError(error).details) };
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
      batch.failure = badRequestFailure(toRpcError(error).details);
    }
    if (batch.bytes > this.maxBytes) batch.failure = tooLargeFailure(this.maxBytes);
    if (batch.failure) batch.events.length = 0;
  }
}

/** BatchAppend: many appends over one call. A failed append gets its own response and leaves the call open. */
export const batchAppend =
  (context: ServerContext): handleBidiStreamingCall<BatchAppendReq, Buffer> =>
  (call) => {
    gatherWrites(call);
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

    const decide = async (batch: OpenBatch): Promise<Buffer> => {
      if (batch.failure) return batchFailed(batch, batch.failure);
      if (batch.deadline !== undefined && batch.deadline < now()) return batchFailed(batch, timeoutFailure());
      const refusal = context.admission.refusal();
      if (refusal !== undefined) return batchFailed(batch, exhaustedFailure(refusal));
      const write = writer.append(batch.stream, batch.expected, batch.events);
      const outcome = await withinCommitTimeout(write, limits.commitTimeoutMs);
      switch (outcome.kind) {
        case 'written':
          return batchSuccess(batch, outcome.revision, outcome.position);
        case 'conflict':
          return batchFailed(batch, conflictFailure(batch.expected, outcome.current));
        case 'deleted':
          return batchFailed(batch, deletedFailure(batch.stream));
        case 'timed-out':
          return batchFailed(batch, timeoutFailure());
      }
    };

    const answer = async (batch: OpenBatch): Promise<void> => {
      unanswered++;
      let response: Buffer;
      try {
        response = await decide(batch);
      } catch (error) {
        report(`An append failed: ${String(error)}`);
        response = batchFailed(batch, unknownFailure(toRpcError(error).details));
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
