import type { Statement, Values } from './statement.js';
import { carryOut, movesCheckpoint } from './table-statements.js';
import { ViewRows, type Answer } from './view-rows.js';

export interface Job {
  readonly task: string;
  readonly key: string | null;
  readonly payload: Readonly<Record<string, string>>;
  runAt: number;
  attempts: number;
  lockedUntil: number;
}

/** A row of `event_sourcing.consumer`. No operator intervenes here, so its epoch never changes. */
interface CheckpointRow {
  readonly position: string | null;
  readonly epoch: string;
}

export interface DeliveryRow {
  readonly endpointId: string;
  readonly eventId: string;
  readonly readingId: string;
  readonly type: string;
  readonly sequence: number;
}

type Entries<M> = M extends Map<infer K, infer V> ? readonly (readonly [K, V])[] : never;

/** The rows of all tables at one moment. */
export interface Rows {
  readonly checkpoints: Entries<Tables['checkpoints']>;
  readonly views: ViewRows;
  readonly publicEvents: Entries<Tables['publicEvents']>;
  readonly unreleasedFailures: Entries<Tables['unreleasedFailures']>;
  readonly deliveries: readonly DeliveryRow[];
  readonly artifacts: Entries<Tables['artifacts']>;
  readonly subjectKeys: Entries<Tables['subjectKeys']>;
  readonly jobs: readonly Job[];
}

const refill = <K, V>(map: Map<K, V>, entries: readonly (readonly [K, V])[]): void => {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
};

/** graphile-worker retakes a killed worker's job after four hours. */
const JOB_LOCK_MS = 4 * 3_600_000;

/**
 * The tables of Postgres in memory, with the service's own statements as far as readings, credits and deliveries need
 * them. An unknown statement is a mistake of the test, and throws.
 */
export class Tables {
  readonly checkpoints = new Map<string, CheckpointRow>();
  readonly views = new ViewRows();
  readonly publicEvents = new Map<
    string,
    { readingId: string; type: string; sequence: number; position: string }
  >();
  /** Columns except the position, by the event that releases its credits and publishes it. */
  readonly unreleasedFailures = new Map<string, readonly string[]>();
  readonly deliveries: DeliveryRow[] = [];
  readonly artifacts = new Map<string, Record<string, unknown>>();
  /** The key of each reading: its number among all keys ever created, and when it was created or last requested. */
  readonly subjectKeys = new Map<
    string,
    { serial: number; workspaceId: string; madeAt: number; made: number }
  >();
  jobs: Job[] = [];
  /** Offset of PostgreSQL's clock (ms). All times that callers give are those of the world. */
  skewMs = 0;

  /** Counts how often rows were lost. A transaction from before cannot commit. */
  losses = 0;

  /** All rows as they are now, for {@link goBackTo}. */
  copy(): Rows {
    return {
      checkpoints: [...this.checkpoints],
      views: this.views.copy(),
      publicEvents: [...this.publicEvents],
      unreleasedFailures: [...this.unreleasedFailures],
      deliveries: [...this.deliveries],
      artifacts: [...this.artifacts],
      subjectKeys: [...this.subjectKeys],
      jobs: this.jobs.map((job) => ({ ...job })),
    };
  }

  /** Loses all that was written since, as an asynchronous standby does when it is promoted. */
  goBackTo(rows: Rows): void {
    this.losses += 1;
    refill(this.checkpoints, rows.checkpoints);
    refill(this.views.tables, [...rows.views.tables]);
    refill(this.publicEvents, rows.publicEvents);
    refill(this.unreleasedFailures, rows.unreleasedFailures);
    refill(this.artifacts, rows.artifacts);
    refill(this.subjectKeys, rows.subjectKeys);
    this.deliveries.splice(0, Infinity, ...rows.deliveries);
    this.jobs = [...rows.jobs];
  }

  /** Executes one statement outside a transaction. */
  run([text, values]: Statement, now: number): Answer {
    const folding = this.views.run(text, values);
    if (folding) return folding;
    const rows = carryOut(this, text, values, now + this.skewMs) ?? [];
    return Array.isArray(rows) ? { rows, rowCount: rows.length } : { rows: [], rowCount: rows ? 1 : 0 };
  }

  /** The result of a statement within a transaction: of the checkpoint's, and of reads of rows to fold. */
  preview([text, values]: Statement, before: readonly Statement[]): Answer {
    if (movesCheckpoint(text)) return { rows: [], rowCount: this.isAt(values) ? 1 : 0 };
    const draft = this.views.copy();
    for (const statement of before) draft.run(...statement);
    return draft.run(text, values) ?? { rows: [], rowCount: 0 };
  }

  /** All or nothing. @throws a serialization failure when another transaction moved the checkpoint meanwhile */
  commit(statements: readonly Statement[], now: number): void {
    const moved = statements.some(([text, values]) => movesCheckpoint(text) && !this.isAt(values));
    if (moved) throw Object.assign(new Error('could not serialize access'), { code: '40001' });
    for (const statement of statements) this.run(statement, now);
  }

  hasDueJob(now: number): boolean {
    return this.dueJobs(now).length > 0;
  }

  /** Takes a due job. It belongs to this worker until it ends or its lock expires. */
  takeJob(now: number, index: (count: number) => number): Job | null {
    const due = this.dueJobs(now);
    if (due.length === 0) return null;
    const job = due[index(due.length)]!;
    job.lockedUntil = now + this.skewMs + JOB_LOCK_MS;
    job.attempts += 1;
    return job;
  }

  endJob(job: Job): void {
    this.jobs = this.jobs.filter((one) => one !== job);
  }

  retryJob(job: Job, now: number): void {
    job.lockedUntil = 0;
    job.runAt = now + this.skewMs + Math.exp(Math.min(job.attempts, 10)) * 1_000;
  }

  /** Whether a checkpoint is where the statement that moves it expects it. */
  isAt([name, , position, epoch]: Values): boolean {
    const row = this.checkpoints.get(name as string);
    return row !== undefined && row.position === position && row.epoch === epoch;
  }

  private dueJobs(now: number): Job[] {
    const at = now + this.skewMs;
    return this.jobs.filter(({ runAt, lockedUntil }) => runAt <= at && lockedUntil <= at);
  }
}
