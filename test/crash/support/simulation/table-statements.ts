import type { Values } from './statement.js';
import type { Job, Tables } from './tables.js';
import type { Row } from './view-rows.js';

const CHECKPOINT_MOVES = 'update event_sourcing.consumer set position';

/** Whether a statement is the one that moves a checkpoint. */
export const movesCheckpoint = (text: string): boolean => text.startsWith(CHECKPOINT_MOVES);

type Carry = (tables: Tables, values: Values, now: number) => Row[] | boolean | void;

const at = (value: unknown): number => Date.parse(value as string);

/** The values of each row of a statement, which has one row or a list for each column. */
const eachOf = (values: Values): readonly Values[] => {
  const [first] = values;
  if (!Array.isArray(first)) return [values];
  return first.map((_, row) => (values as readonly Values[]).map((column) => column[row]));
};

const overdue = (rows: Iterable<Row>, now: number): Row[] =>
  [...rows].filter(({ due_at: dueAt }) => dueAt !== null && at(dueAt) < now);

/** How the fence reads and confirms holds. */
const STATEMENTS_OF_HOLDS: readonly (readonly [string, Carry])[] = [
  [
    'update billing.hold set confirmed',
    (tables, values) => {
      const holds = tables.views.of('billing.hold');
      const id = values.join('|');
      if (holds.has(id)) holds.set(id, { ...holds.get(id), confirmed: true });
    },
  ],
  [
    'from billing.hold',
    (tables, [before]) =>
      [...tables.views.of('billing.hold').values()].filter(
        (hold) => !hold['confirmed'] && at(hold['reserved_at']) < at(before),
      ),
  ],
];

/** Statements by a characteristic part of their text. The first match counts. */
const STATEMENTS: readonly (readonly [string, Carry])[] = [
  ['update event_sourcing.consumer set categories', (tables, [name]) => checkpoint(tables, name)],
  ['select position, epoch from event_sourcing.consumer', (tables, [name]) => checkpoint(tables, name)],
  [
    'insert into event_sourcing.consumer',
    (tables, [name, position]) => {
      if (checkpoint(tables, name).length > 0) return;
      tables.checkpoints.set(name as string, { position: position as string | null, epoch: '0' });
    },
  ],
  [
    CHECKPOINT_MOVES,
    (tables, values) => {
      if (!tables.isAt(values)) return false;
      const [name, position, , epoch] = values;
      tables.checkpoints.set(name as string, { position: position as string, epoch: epoch as string });
      return true;
    },
  ],
  // A poison event. Its alarm already counts as a breach.
  [
    "update event_sourcing.consumer set status = 'halted'",
    ({ checkpoints }, [name, , , , epoch, position]) => {
      const row = checkpoints.get(name as string);
      return row?.epoch === epoch && row?.position === position;
    },
  ],
  ['insert into event_sourcing.parked_stream', () => undefined],

  [
    'graphile_worker.add_job',
    (tables, values, now) => {
      for (const [task, payload, runAt, , key] of eachOf(values)) {
        const waiting = tables.jobs.find((job) => job.key === key && job.lockedUntil <= now);
        if (waiting) tables.endJob(waiting);
        tables.jobs.push({
          task: task as string,
          key: key as string | null,
          payload: JSON.parse(payload as string) as Job['payload'],
          runAt: runAt === null ? now : at(runAt),
          attempts: 0,
          lockedUntil: 0,
        });
      }
    },
  ],
  [
    'graphile_worker.remove_job',
    (tables, values, now) => {
      for (const [key] of eachOf(values))
        tables.jobs = tables.jobs.filter((job) => job.key !== key || job.lockedUntil > now);
    },
  ],

  [
    'from platform.subject_key where created_at < now()',
    (tables, [seconds], now) =>
      [...tables.subjectKeys]
        .filter(([, { madeAt }]) => madeAt < now - (seconds as number) * 1_000)
        .map(([id, { workspaceId, made }]) => ({
          subject_id: id,
          workspace_id: workspaceId,
          created_at: String(made),
          known: tables.views.of('readings.reading').has(id),
        })),
  ],
  [
    'delete from platform.subject_key where subject_id = $1 and created_at = $2',
    ({ subjectKeys }, [id, made]) => {
      if (String(subjectKeys.get(id as string)?.made) === made) subjectKeys.delete(id as string);
    },
  ],
  // Every sweep checks all keys again.
  ['from platform.key_sweep', () => []],
  ['insert into platform.key_sweep', () => undefined],

  [
    'select reading_id, workspace_id, correlation_id from readings.reading',
    (tables, _, now) => overdue(tables.views.of('readings.reading').values(), now),
  ],
  // The API finds no row yet, and reads the stream.
  ['from readings.reading where reading_id', () => []],
  ['from readings.result where reading_id', () => []],

  [
    'from publishing.republication',
    (tables, _, now) => [
      ...overdue(tables.views.of('publishing.publication').values(), now),
      ...overdue(tables.views.of('publishing.republication').values(), now),
    ],
  ],
  [
    'insert into publishing.artifact',
    (tables, [artifactId, readingId, version, contentVersion, ...rendered]) => {
      if (!tables.subjectKeys.has(readingId as string)) return [];
      const added = [];
      for (let at = 0; at < rendered.length; at += 5) {
        const [format, mediaType, digest, bytes] = rendered.slice(at, at + 4);
        const key = `${readingId as string}|${version as number}|${format as string}`;
        if (tables.artifacts.has(key)) continue;
        tables.artifacts.set(key, { artifactId, format, mediaType, digest, bytes, contentVersion });
        added.push({ format, mediaType, digest, bytes, contentVersion });
      }
      return added;
    },
  ],
  [
    'delete from platform.subject_key',
    ({ subjectKeys }, [readingId]) => subjectKeys.delete(readingId as string),
  ],
  // Nobody makes links here.
  ['update publishing.document_link', () => []],
  [
    'delete from publishing.artifact',
    ({ artifacts }, [readingId]) => {
      for (const key of artifacts.keys())
        if (key.startsWith(`${readingId as string}|`)) artifacts.delete(key);
    },
  ],
  [
    'from publishing.artifact',
    (tables, [readingId, version]) =>
      [...tables.artifacts]
        .filter(([key]) => key.startsWith(`${readingId as string}|${version as number}|`))
        .map(([, { artifactId: _, ...stored }]) => stored),
  ],

  ...STATEMENTS_OF_HOLDS,

  // No webhook is sent, so there are no answers.
  ['update webhooks.attempt', () => undefined],
  [
    'insert into webhooks.unreleased_failure',
    (tables, values) => {
      const [causeEventIds, ...columns] = values as readonly string[][];
      causeEventIds!.forEach((causeEventId, index) => {
        const failure = columns.map((column) => column[index]!);
        if (!tables.publicEvents.has(failure[0]!)) tables.unreleasedFailures.set(causeEventId, failure);
      });
    },
  ],
  [
    'delete from webhooks.unreleased_failure',
    (tables, values) => {
      const [causeEventIds, positions] = values as readonly string[][];
      causeEventIds!.forEach((causeEventId, index) => {
        const failure = tables.unreleasedFailures.get(causeEventId);
        if (!failure) return;
        tables.unreleasedFailures.delete(causeEventId);
        const [eventId, workspaceId, readingId, type] = failure as [string, string, string, string];
        publish(tables, { eventId, workspaceId, readingId, type, position: positions![index]! });
      });
    },
  ],
  [
    'insert into webhooks.delivery',
    (tables, values) => {
      const [eventIds, workspaceIds, readingIds, types, , , , positions] = values as readonly string[][];
      eventIds!.forEach((eventId, index) => {
        const workspaceId = workspaceIds![index]!;
        const position = positions![index]!;
        publish(tables, {
          eventId,
          workspaceId,
          readingId: readingIds![index]!,
          type: types![index]!,
          position,
        });
      });
    },
  ],
  ['pg_notify', () => undefined],
];

/**
 * Executes a statement that folds no rows.
 * @returns rows, or whether a row was changed
 * @throws TypeError for a statement that the simulation does not know
 */
export const carryOut = (
  tables: Tables,
  text: string,
  values: Values,
  now: number,
): Row[] | boolean | void => {
  const known = STATEMENTS.find(([pattern]) => text.includes(pattern));
  if (!known) throw new TypeError(`The simulation knows no statement like: ${text}`);
  return known[1](tables, values, now);
};

const checkpoint = ({ checkpoints }: Tables, name: unknown): Row[] => {
  const row = checkpoints.get(name as string);
  return row ? [{ ...row }] : [];
};

interface Fact {
  readonly eventId: string;
  readonly workspaceId: string;
  readonly readingId: string;
  readonly type: string;
  readonly position: string;
}

/** A stored event adds nothing. Others get the reading's next number, and a delivery for each current endpoint. */
const publish = (tables: Tables, { eventId, workspaceId, readingId, type, position }: Fact): void => {
  if (tables.publicEvents.has(eventId)) return;
  const before = [...tables.publicEvents.values()].filter((one) => one.readingId === readingId);
  const sequence = before.length + 1;
  tables.publicEvents.set(eventId, { readingId, type, sequence, position });
  for (const [endpointId, endpoint] of tables.views.of('webhooks.endpoint')) {
    const { workspace_id: owner, events, deleted_at: deletedAt } = endpoint;
    if (owner !== workspaceId || deletedAt !== null) continue;
    if ((events as string[]).includes(type))
      tables.deliveries.push({ endpointId, eventId, readingId, type, sequence });
  }
};
