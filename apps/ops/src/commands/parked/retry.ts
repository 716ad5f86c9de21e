import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { streamId } from '#event-sourcing/core/stream-name.js';
import {
  askForRetry,
  parkedStreams,
  placeText,
  stoppedStreams,
  type Place,
  type StoppedStream,
} from '#event-sourcing/parking/parked-streams.js';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { releaseParked } from '#event-sourcing/parking/release-parked.js';
import { AuditRecords } from '#platform/audit/audit-records.js';
import { isUuid } from '#platform/text/uuid.js';
import { OpsError } from '../../ops-error.js';
import { PROJECTIONS } from '../../projections.js';
import type { Session } from '../../session.js';

const POLL_MS = 250;
const ATTEMPTS = 2;
const silent = { warn: () => undefined, error: () => undefined };

/** What is to be handled again: everything a consumer has stopped at, one stream of it, or all that an event stops. */
export interface Wanted {
  readonly consumer?: string;
  readonly stream?: string;
  readonly cause?: Place;
}

/** What is stopped, of what is wanted. */
const stoppedOf = async ({ pool }: Session, { consumer, stream, cause }: Wanted) =>
  (await stoppedStreams(pool, consumer ?? null)).filter(
    (one) =>
      !/__v\d+$/.test(one.consumer) &&
      (stream === undefined || one.stream === stream) &&
      (cause === undefined || one.cause === placeText(cause)),
  );

/** What a retry found stopped, and what is still stopped after it. */
export interface Retried {
  readonly before: readonly StoppedStream[];
  readonly left: readonly StoppedStream[];
}

/**
 * Has what is stopped tried again, and records who asked for it: before the attempt, so that none goes unrecorded.
 * @throws OpsError when nothing is stopped there
 */
export const retryStopped = async (
  session: Session,
  wanted: Wanted & { readonly consumer: string },
  waitSeconds: number,
): Promise<Retried> => {
  const { consumer, stream } = wanted;
  const before = await stoppedOf(session, wanted);
  if (before.length === 0)
    throw new OpsError(
      `${consumer} is not stopped${stream === undefined ? '' : ` at ${stream}`}: ops parked list shows what is.`,
    );
  const id = stream === undefined ? '' : streamId(stream);
  await new AuditRecords(session.pool).add([
    {
      at: Date.now(),
      requestId: randomUUID(),
      requests: 1,
      method: 'OPS',
      route: `parked retry ${consumer}`,
      status: 200,
      workspaceId: null,
      actor: session.actor,
      address: null,
      readingId: isUuid(id) ? id : null,
      personal: false,
    },
  ]);
  return { before, left: await releaseStopped(session, wanted, waitSeconds) };
};

/**
 * Has parked streams handled. This process handles those of projections itself. A worker handles those of processes,
 * and continues halted consumers: this waits for it.
 * @returns what is still stopped
 */
export const releaseStopped = async (session: Session, wanted: Wanted, waitSeconds: number) => {
  const { pool, store } = session;
  const before = await stoppedOf(session, wanted);
  const failed = new Set<string>();
  for (const { consumer, key } of before) {
    if (key === null) continue;
    const projection = PROJECTIONS.find(({ name }) => name === consumer);
    if (!projection) await askForRetry(pool, consumer, { key });
    else if (!failed.has(`${consumer} ${key}`)) {
      const { outcome } = await releaseParked(
        projectionConsumer(projection),
        { pool, store, log: silent },
        key,
      );
      if (outcome === 'still_parked') failed.add(`${consumer} ${key}`);
    }
  }
  const deadline = Date.now() + waitSeconds * 1_000;
  for (let asked = 1; ; await delay(POLL_MS)) {
    const left = await stoppedOf(session, wanted);
    const ofWorkers = left.filter(({ consumer, key }) => !failed.has(`${consumer} ${key}`));
    const open = await untried(session, ofWorkers);
    if (left.length === 0 || Date.now() > deadline) return left;
    if (open.length > 0) continue;
    // A worker may have parked a stream, or begun its attempt, before it knew of the decision.
    if (ofWorkers.length === 0 || asked === ATTEMPTS) return left;
    for (const { consumer, key } of ofWorkers) await askForRetry(pool, consumer, { key: key! });
    asked += 1;
  }
};

/** A worker has tried a parked stream in vain when it has recorded the attempt. */
const untried = async ({ pool }: Session, left: Awaited<ReturnType<typeof stoppedOf>>) => {
  const { rows } = await pool.query<{ consumer: string; stream: string }>(
    'select consumer, stream from event_sourcing.parked_stream where tried_at is null',
  );
  return left.filter(
    (one) =>
      one.state === 'halted' ||
      rows.some(({ consumer, stream }) => consumer === one.consumer && stream === one.stream),
  );
};

/** Consumers that stand still because of an event. */
export const stoppedBy = async ({ pool }: Session, cause: Place): Promise<readonly string[]> => {
  const parked = (await parkedStreams(pool)).filter((one) => placeText(one.cause) === placeText(cause));
  const halted = (await stoppedStreams(pool)).filter(
    (one) => one.state === 'halted' && one.cause === placeText(cause),
  );
  return [...new Set([...parked, ...halted].map(({ consumer }) => consumer))]
    .filter((name) => !/__v\d+$/.test(name))
    .toSorted();
};
