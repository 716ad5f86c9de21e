type Values = readonly unknown[];
type Answer = { rows: Record<string, unknown>[]; rowCount: number };

export interface Job {
  readonly task: string;
  readonly key: string | null;
  readonly payload: Readonly<Record<string, string>>;
  runAt: number;
  attempts: number;
  lockedUntil: number;
}

interface ReadingRow {
  readonly workspaceId: string;
  readonly correlationId: string;
  status: string;
  dueAt: number | null;
  isPublished: boolean;
}

interface HoldRow {
  readonly workspaceId: string;
  readonly reservationId: string;
  readonly readingId: string;
  readonly reservedAt: string;
  confirmed: boolean;
}

export interface DeliveryRow {
  readonly endpointId: string;
  readonly eventId: string;
  readonly readingId: string;
  readonly type: string;
  readonly sequence: number;
}

/** graphile-worker takes a job of a worker that was killed again after four hours. */
const JOB_LOCK_MS = 4 * 3_600_000;
const ACCOUNTS = ['available', 'held', 'consumed', 'expired', 'granted', 'adjusted'] as const;

/**
 * What the service's own statements do, as far as readings, credits and deliveries need it: the tables of Postgres in
 * memory. A statement it does not know is a mistake of the test, never passed over.
 */
export class Tables {
  readonly checkpoints = new Map<string, string | null>();
  readonly readings = new Map<string, ReadingRow>();
  readonly publications = new Map<
    string,
    { workspaceId: string; correlationId: string; dueAt: number | null }
  >();
  readonly holds = new Map<string, HoldRow>();
  readonly balances = new Map<
    string,
    { revision: bigint; balance: Record<(typeof ACCOUNTS)[number], number> }
  >();
  readonly endpoints = new Map<string, { workspaceId: string; events: readonly string[] }>();
  readonly publicEvents = new Map<string, { readingId: string; sequence: number }>();
  readonly deliveries: DeliveryRow[] = [];
  readonly artifacts = new Map<string, Record<string, unknown>>();
  jobs: Job[] = [];

  /** Carries out one statement outside a transaction. */
  run(text: string, values: Values, now: number): Answer {
    const known = STATEMENTS.find(([pattern]) => text.includes(pattern));
    if (!known) throw new TypeError(`The simulation knows no statement like: ${text}`);
    const rows = known[1](this, values, now, text) ?? [];
    return Array.isArray(rows) ? { rows, rowCount: rows.length } : { rows: [], rowCount: rows ? 1 : 0 };
  }

  /** What a statement in a transaction would answer; only the checkpoint's is looked at. */
  preview(text: string, values: Values): Answer {
    if (!text.includes('update event_sourcing.consumer set position')) return { rows: [], rowCount: 0 };
    return { rows: [], rowCount: this.isAt(values) ? 1 : 0 };
  }

  /** All or nothing. @throws a serialization failure when another transaction moved the checkpoint meanwhile */
  commit(statements: readonly (readonly [string, Values])[], now: number): void {
    const moved = statements.some(
      ([text, values]) => text.includes('update event_sourcing.consumer set position') && !this.isAt(values),
    );
    if (moved) throw Object.assign(new Error('could not serialize access'), { code: '40001' });
    for (const [text, values] of statements) this.run(text, values, now);
  }

  hasDueJob(now: number): boolean {
    return this.jobs.some(({ runAt, lockedUntil }) => runAt <= now && lockedUntil <= now);
  }

  /** Takes a due job; it is this worker's until it ends, or its lock does. */
  takeJob(now: number, index: (count: number) => number): Job | null {
    const due = this.jobs.filter(({ runAt, lockedUntil }) => runAt <= now && lockedUntil <= now);
    if (due.length === 0) return null;
    const job = due[index(due.length)]!;
    job.lockedUntil = now + JOB_LOCK_MS;
    job.attempts += 1;
    return job;
  }

  endJob(job: Job): void {
    this.jobs = this.jobs.filter((one) => one !== job);
  }

  retryJob(job: Job, now: number): void {
    job.lockedUntil = 0;
    job.runAt = now + Math.exp(Math.min(job.attempts, 10)) * 1_000;
  }

  private isAt([name, , from]: Values): boolean {
    return (this.checkpoints.get(name as string) ?? null) === from;
  }
}

type Carry = (
  tables: Tables,
  values: Values,
  now: number,
  text: string,
) => Record<string, unknown>[] | boolean | void;

const at = (value: unknown): number => Date.parse(value as string);

const overdue = (
  rows: Iterable<[string, { workspaceId: string; correlationId: string; dueAt: number | null }]>,
  now: number,
) =>
  [...rows]
    .filter(([, { dueAt }]) => dueAt !== null && dueAt < now)
    .map(([readingId, { workspaceId, correlationId }]) => ({
      reading_id: readingId,
      workspace_id: workspaceId,
      correlation_id: correlationId,
    }));

/** By a part that no other statement has; the first that fits counts. */
const STATEMENTS: readonly (readonly [string, Carry])[] = [
  [
    'select position from event_sourcing.consumer',
    (tables, [name]) =>
      tables.checkpoints.has(name as string) ? [{ position: tables.checkpoints.get(name as string) }] : [],
  ],
  [
    'insert into event_sourcing.consumer',
    (tables, [name, position]) => {
      if (!tables.checkpoints.has(name as string))
        tables.checkpoints.set(name as string, position as string | null);
    },
  ],
  [
    'update event_sourcing.consumer set position',
    (tables, [name, to]) => {
      tables.checkpoints.set(name as string, to as string);
    },
  ],

  [
    'graphile_worker.add_job',
    (tables, [task, payload, runAt, , key], now) => {
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
    },
  ],
  [
    'graphile_worker.remove_job',
    (tables, [key], now) => {
      tables.jobs = tables.jobs.filter((job) => job.key !== key || job.lockedUntil > now);
    },
  ],

  [
    'insert into readings.reading',
    (tables, [id, workspaceId, , , , , createdAt, , , seconds, correlationId]) => {
      if (tables.readings.has(id as string)) return;
      tables.readings.set(id as string, {
        workspaceId: workspaceId as string,
        correlationId: correlationId as string,
        status: 'queued',
        dueAt: at(createdAt) + (seconds as number) * 1_000,
        isPublished: false,
      });
    },
  ],
  [
    `update readings.reading set status = 'processing'`,
    (tables, [, dueAt, id]) => {
      Object.assign(tables.readings.get(id as string)!, { status: 'processing', dueAt: at(dueAt) });
    },
  ],
  [
    `update readings.reading set status = 'queued'`,
    (tables, [, retryAt, seconds, id]) => {
      const dueAt = at(retryAt) + (seconds as number) * 1_000;
      Object.assign(tables.readings.get(id as string)!, { status: 'queued', dueAt });
    },
  ],
  ['insert into readings.result', () => undefined],
  [
    `update readings.reading set status = 'completed'`,
    (tables, values) => {
      Object.assign(tables.readings.get(values.at(-1) as string)!, { status: 'completed', dueAt: null });
    },
  ],
  [
    `update readings.reading set status = 'failed'`,
    (tables, values) => {
      Object.assign(tables.readings.get(values.at(-1) as string)!, { status: 'failed', dueAt: null });
    },
  ],
  [
    'update readings.reading set document_version',
    (tables, values) => {
      tables.readings.get(values[4] as string)!.isPublished = true;
    },
  ],
  [
    `select reading_id, workspace_id, correlation_id from readings.reading`,
    (tables, _, now) => overdue(tables.readings, now),
  ],
  // The pages of the API find no row yet, and read the stream.
  ['from readings.reading where reading_id', () => []],
  ['from readings.result where reading_id', () => []],

  [
    'insert into publishing.publication (reading_id, version, workspace_id, artifact_id, due_at',
    (tables, [id, workspaceId, occurredAt, seconds, correlationId]) => {
      if (tables.publications.has(id as string)) return;
      tables.publications.set(id as string, {
        workspaceId: workspaceId as string,
        correlationId: correlationId as string,
        dueAt: at(occurredAt) + (seconds as number) * 1_000,
      });
    },
  ],
  [
    'insert into publishing.publication (reading_id, version, workspace_id, artifact_id, published_at',
    (tables, [id, , workspaceId, , , correlationId]) => {
      tables.publications.set(id as string, {
        workspaceId: workspaceId as string,
        correlationId: correlationId as string,
        dueAt: null,
      });
    },
  ],
  [
    'select reading_id, workspace_id, correlation_id from publishing.publication',
    (tables, _, now) => overdue(tables.publications, now),
  ],
  [
    'insert into publishing.artifact',
    (tables, [artifactId, format, readingId, version, mediaType, sha256, bytes]) => {
      const key = `${readingId as string}|${version as number}|${format as string}`;
      if (!tables.artifacts.has(key))
        tables.artifacts.set(key, { artifactId, format, mediaType, sha256, bytes });
    },
  ],
  [
    'from publishing.artifact',
    (tables, [readingId, version]) =>
      [...tables.artifacts]
        .filter(([key]) => key.startsWith(`${readingId as string}|${version as number}|`))
        .map(([, { format, mediaType, sha256, bytes }]) => ({ format, mediaType, sha256, bytes })),
  ],

  [
    'insert into billing.hold',
    (tables, [workspaceId, reservationId, readingId, , reservedAt]) => {
      tables.holds.set(`${workspaceId as string}|${reservationId as string}`, {
        workspaceId: workspaceId as string,
        reservationId: reservationId as string,
        readingId: readingId as string,
        reservedAt: reservedAt as string,
        confirmed: false,
      });
    },
  ],
  [
    'delete from billing.hold',
    (tables, [workspaceId, reservationId]) => {
      tables.holds.delete(`${workspaceId as string}|${reservationId as string}`);
    },
  ],
  [
    'update billing.hold set confirmed',
    (tables, [workspaceId, reservationId]) => {
      const hold = tables.holds.get(`${workspaceId as string}|${reservationId as string}`);
      if (hold) hold.confirmed = true;
    },
  ],
  [
    'from billing.hold',
    (tables, [before]) =>
      [...tables.holds.values()]
        .filter(({ confirmed, reservedAt }) => !confirmed && reservedAt < (before as string))
        .map(({ workspaceId, reservationId, readingId, reservedAt }) => ({
          workspace_id: workspaceId,
          reservation_id: reservationId,
          reading_id: readingId,
          reserved_at: reservedAt,
        })),
  ],
  [
    'insert into billing.balance',
    (tables, [workspaceId, revision]) => {
      const balance = Object.fromEntries(ACCOUNTS.map((account) => [account, 0])) as Record<
        (typeof ACCOUNTS)[number],
        number
      >;
      tables.balances.set(workspaceId as string, { revision: BigInt(revision as string), balance });
    },
  ],
  [
    'update billing.balance',
    (tables, values) => {
      const row = tables.balances.get(values[9] as string)!;
      if (row.revision >= BigInt(values[10] as string)) return;
      row.revision = BigInt(values[10] as string);
      // Granted and adjusted are subtracted: what was issued is negative in the book.
      ACCOUNTS.forEach((account, index) => {
        row.balance[account] += (values[index] as number) * (index < 4 ? 1 : -1);
      });
    },
  ],

  [
    'insert into webhooks.endpoint',
    (tables, [endpointId, workspaceId, , events]) => {
      tables.endpoints.set(endpointId as string, {
        workspaceId: workspaceId as string,
        events: events as string[],
      });
    },
  ],
  ['insert into webhooks.delivery', (tables, values) => tell(tables, values)],
  ['pg_notify', () => undefined],
];

/** As the statement says: events already stored add nothing; numbered per reading; a delivery per endpoint of now. */
const tell = (tables: Tables, values: Values): void => {
  const [eventIds, workspaceIds, readingIds, types] = values as readonly string[][];
  eventIds!.forEach((eventId, index) => {
    if (tables.publicEvents.has(eventId)) return;
    const readingId = readingIds![index]!;
    const type = types![index]!;
    const before = [...tables.publicEvents.values()].filter((one) => one.readingId === readingId);
    const sequence = before.length + 1;
    tables.publicEvents.set(eventId, { readingId, sequence });
    for (const [endpointId, endpoint] of tables.endpoints) {
      if (endpoint.workspaceId !== workspaceIds![index] || !endpoint.events.includes(type)) continue;
      tables.deliveries.push({ endpointId, eventId, readingId, type, sequence });
    }
  });
};
