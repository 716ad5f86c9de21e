import { setImmediate } from 'node:timers';
import pg from 'pg';
import { freshDatabase } from '../../../support/fresh-database.js';
import type { StartedPostgres } from '../../../support/start-postgres.js';

/** A statement as callers of `pg` give it. */
export type Asked = string | pg.QueryConfig;
export type Row = Readonly<Record<string, unknown>>;

/** One statement of a transaction, and how many rows it touched when its process ran it. */
interface Done {
  readonly statement: pg.QueryConfig;
  readonly touched: number | null;
}

/** The rows of all tables at one moment, as JSON by table. */
export type Contents = ReadonlyMap<string, string>;

export interface TakenJob {
  readonly id: string;
  readonly task: string;
  readonly payload: Readonly<Record<string, string>>;
}

/** Makes PostgreSQL's clock a setting of the session: in functions, in defaults, and in what the service asks. */
const CLOCK = `
  create schema sim;
  create function sim.now() returns timestamptz language sql stable as
    $$ select to_timestamp(current_setting('sim.now')::float8 / 1000) $$;
  create function sim.clock_timestamp() returns timestamptz language sql stable as 'select sim.now()';
  do $$
  declare one record;
  begin
    for one in select adrelid::regclass as of, attname from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
               where pg_get_expr(adbin, adrelid) = 'now()' loop
      execute format('alter table %s alter column %I set default sim.now()', one.of, one.attname);
    end loop;
  end $$;
  set search_path = sim, pg_catalog, public`;

/** All tables, with the columns that can be written. */
const TABLES = `
  select c.oid::regclass::text as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
  from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
  where relkind = 'r' and relnamespace::regnamespace::text !~ '^(pg_|information_schema)' group by c.oid order by name`;

/** When the next job may be taken: graphile-worker frees those of a killed worker after four hours. */
const FREE_AT = `case when locked_at is null then run_at else locked_at + interval '4 hours' end`;
const JOBS = 'graphile_worker._private_jobs';
/** Whether a statement may add or end a job. */
const JOB = /job/;

/** PostgreSQL as all processes of a simulation share it: a real one, on the clock of the world. */
export class SimulatedPostgres {
  /** Offset of its clock (ms). */
  skewMs = 0;
  /** Counts how often rows were lost. A transaction from before cannot commit. */
  losses = 0;
  private now: () => number = () => 0;
  private nextJobAt = Infinity;
  /** The transaction whose statements have run on the connection, and are not committed. */
  private draft: readonly Done[] | null = null;
  private last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly database: StartedPostgres,
    private readonly client: pg.Client,
    private readonly tables: readonly { readonly name: string; readonly columns: string }[],
    private readonly empty: Contents,
  ) {}

  /** On a database of its own, with every module's schema. */
  static async start(): Promise<SimulatedPostgres> {
    const database = await freshDatabase();
    const client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
    await client.query(CLOCK);
    const { rows } = await client.query<{ name: string; columns: string }>(TABLES);
    const empty = await contentsOf(client, rows);
    return new SimulatedPostgres(database, client, rows, empty);
  }

  async stop(): Promise<void> {
    await this.client.end();
    await this.database.stop();
  }

  /** Begins another simulation. @param now the time of its world */
  async begin(now: () => number): Promise<void> {
    this.now = now;
    this.skewMs = 0;
    await this.goBackTo(this.empty);
    this.losses = 0;
  }

  /** Resolves once no statement runs, and everything that waited for one has gone on. */
  async settled(): Promise<void> {
    for (let seen: unknown; seen !== this.last;) {
      seen = this.last;
      await seen;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** Executes one statement outside a transaction. */
  run(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    return this.alone(async () => {
      await this.tellTime();
      const answer = await this.client.query(statement);
      if (JOB.test(statement.text)) await this.lookForJobs();
      return answer;
    });
  }

  /** Executes the next statement of a transaction, as if those before it had just run. */
  try(before: readonly Done[], statement: pg.QueryConfig): Promise<pg.QueryResult> {
    return this.alone(async () => {
      if (this.draft !== before) {
        await this.replay(before);
        this.draft = before;
      }
      return this.client.query(statement).catch(async (error: unknown) => {
        await this.leaveDraft();
        throw error;
      });
    }, before);
  }

  /** All or nothing. @throws a serialization failure when a statement touches other rows than before */
  commit(statements: readonly Done[]): Promise<void> {
    return this.alone(async () => {
      try {
        await this.replay(statements);
      } catch (error) {
        await this.client.query('rollback');
        throw error;
      }
      await this.client.query('commit');
      if (statements.some(({ statement }) => JOB.test(statement.text))) await this.lookForJobs();
    });
  }

  /** Runs work in a transaction of its own that leaves nothing. */
  inVain<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.alone(async () => {
      await this.client.query('begin; set local session_replication_role = replica');
      await this.tellTime();
      try {
        return await work(this.client);
      } finally {
        await this.client.query('rollback');
      }
    });
  }

  copy(): Promise<Contents> {
    return this.alone(() => contentsOf(this.client, this.tables));
  }

  /** Loses all that was written since, as an asynchronous standby does when it is promoted. */
  goBackTo(contents: Contents): Promise<void> {
    return this.alone(async () => {
      this.losses += 1;
      const refills = this.tables.map(({ name, columns }) => {
        const rows = pg.escapeLiteral(contents.get(name)!);
        return `delete from ${name};
                insert into ${name} (${columns}) overriding system value
                select ${columns} from json_populate_recordset(null::${name}, ${rows})`;
      });
      await this.client.query(
        ['begin', 'set local session_replication_role = replica', ...refills, 'commit'].join(';\n'),
      );
      await this.lookForJobs();
    });
  }

  hasDueJob(): boolean {
    return this.nextJobAt <= this.now() + this.skewMs;
  }

  /** Takes a due job. It belongs to this worker until it ends or its lock expires. @param twice others may take it, too */
  async takeJob(index: (count: number) => number, twice: () => boolean): Promise<TakenJob | null> {
    const { rows } = await this.run({
      text: `select job.id, identifier as task, payload from ${JOBS} job
             join graphile_worker._private_tasks task on task.id = task_id
             where attempts < max_attempts and ${FREE_AT} <= now() order by job.id`,
    });
    if (rows.length === 0) return null;
    const job = (rows as TakenJob[])[index(rows.length)]!;
    const lockedAt = twice() ? 'null' : 'now()';
    await this.run({
      text: `update ${JOBS} set locked_at = ${lockedAt}, attempts = attempts + 1 where id = $1`,
      values: [job.id],
    });
    return job;
  }

  async endJob({ id }: TakenJob): Promise<void> {
    await this.run({ text: `delete from ${JOBS} where id = $1`, values: [id] });
  }

  async retryJob({ id }: TakenJob): Promise<void> {
    await this.run({
      text: `update ${JOBS} set locked_at = null,
               run_at = greatest(now(), run_at) + exp(least(attempts, 10)) * interval '1 second' where id = $1`,
      values: [id],
    });
  }

  /** One after the other; what another transaction had tried is rolled back before. */
  private alone<T>(work: () => Promise<T>, draft: readonly Done[] | null = null): Promise<T> {
    const done = this.last.then(async () => {
      if (this.draft !== draft) await this.leaveDraft();
      return work();
    });
    this.last = done.catch(() => undefined);
    return done;
  }

  private async leaveDraft(): Promise<void> {
    if (this.draft) await this.client.query('rollback');
    this.draft = null;
  }

  private async replay(statements: readonly Done[]): Promise<void> {
    await this.client.query('begin');
    await this.tellTime();
    for (const { statement, touched } of statements) {
      const { rowCount } = await this.client.query(statement);
      if (rowCount !== touched)
        throw Object.assign(new Error('could not serialize access'), { code: '40001' });
    }
  }

  private tellTime(): Promise<unknown> {
    return this.client.query(`select set_config('sim.now', $1, false)`, [String(this.now() + this.skewMs)]);
  }

  private async lookForJobs(): Promise<void> {
    const { rows } = await this.client.query<{ at: number | null }>(
      `select (extract(epoch from min(${FREE_AT})) * 1000)::float8 as at from ${JOBS} where attempts < max_attempts`,
    );
    this.nextJobAt = rows[0]!.at ?? Infinity;
  }
}

const contentsOf = async (
  client: pg.ClientBase,
  tables: readonly { readonly name: string }[],
): Promise<Contents> => {
  const texts = tables.map(
    ({ name }) =>
      `select ${pg.escapeLiteral(name)} as name, (select coalesce(json_agg(one), '[]')::text from ${name} one) as rows`,
  );
  const { rows } = await client.query<{ name: string; rows: string }>(texts.join(' union all '));
  return new Map(rows.map((one) => [one.name, one.rows]));
};

/** The rows of a table in some contents, as JSON values. */
export const rowsOf = (contents: Contents, table: string): readonly Row[] => {
  const rows = contents.get(table);
  if (rows === undefined) throw new TypeError(`There is no table ${table}`);
  return JSON.parse(rows) as Row[];
};
