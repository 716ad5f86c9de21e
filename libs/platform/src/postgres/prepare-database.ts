import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { serviceSchemas, type Migrated } from './schemas.js';

/** A request that cannot be done, with what to do instead. */
export class UnusableRoles extends Error {
  override readonly name = 'UnusableRoles';
}

export interface DatabaseRoles {
  /** URL of a role that may create roles and databases; any database of the server. */
  readonly adminUrl: string;
  /** URL of the role that owns the schemas; names the database. */
  readonly ownerUrl: string;
  /** URL of the role of API and worker; names the same database. */
  readonly applicationUrl: string;
}

interface Login {
  readonly role: string;
  readonly password: string;
  readonly database: string;
}

/**
 * The statements that give the service its database and its two roles, and give the owner what other roles own of it.
 * They depend on the current state: in a prepared database, they only set the passwords again.
 * @param modules whose schemas the owner owns
 * @param carryOut whether to run them; otherwise nothing changes
 * @returns the statements in order, with passwords as SCRAM verifiers
 * @throws UnusableRoles when the URLs do not name three roles and one database, or objects are in use
 */
export const prepareDatabase = async (
  { adminUrl, ownerUrl, applicationUrl }: DatabaseRoles,
  modules: Migrated,
  carryOut: boolean,
): Promise<readonly string[]> => {
  const [owner, application] = [loginOf(ownerUrl), loginOf(applicationUrl)];
  if (owner.database !== application.database)
    throw new UnusableRoles('The owner and the application must name the same database.');
  if (owner.role === application.role)
    throw new UnusableRoles('The owner and the application must be different roles.');
  const done: string[] = [];
  const run = async (client: pg.Client, statements: readonly string[]): Promise<void> => {
    for (const statement of statements) {
      if (carryOut) await carriedOut(client, statement);
      done.push(statement);
    }
  };
  const { there, created } = await onServer(adminUrl, async (client) => {
    for (const login of [owner, application]) await run(client, await roleStatements(client, login));
    const { rowCount } = await client.query('select from pg_database where datname = $1', [owner.database]);
    const isThere = rowCount === 1;
    await run(client, isThere ? [] : [`create database ${id(owner.database)} ${BYTE_ORDER}`]);
    await run(client, databaseStatements(owner, application));
    return { there: isThere, created: !isThere && carryOut };
  });
  if (there || created) {
    await onServer(inDatabase(adminUrl, owner.database), async (client) => {
      await client.query(`set lock_timeout = '${MAX_LOCK_WAIT}'`);
      await run(client, await ownershipStatements(client, modules, owner.role));
    });
  }
  return done;
};

/** A change of owner waits for current users of the table, and new users wait behind the change. */
const MAX_LOCK_WAIT = '5s';

const carriedOut = async (client: pg.Client, statement: string): Promise<void> => {
  try {
    await client.query(statement);
  } catch (error) {
    if ((error as { code?: string }).code === '55P03')
      throw new UnusableRoles(
        `In use for more than ${MAX_LOCK_WAIT}: ${statement}. Earlier statements stay applied: repeat the command, if necessary at a quieter time.`,
      );
    throw error;
  }
};

/** Text in the order of its bytes: the quickest, and no upgrade of the operating system changes it under the indexes. */
const BYTE_ORDER = `encoding 'UTF8' locale_provider libc locale 'C' template template0`;

const id = (name: string): string => pg.escapeIdentifier(name);

const onServer = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const loginOf = (url: string): Login => {
  const { username, password, pathname } = new URL(url);
  const login = {
    role: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  };
  if (login.role === '' || login.database === '')
    throw new UnusableRoles(
      'Each URL must name a user and a database: postgresql://user:password@host:port/database.',
    );
  if (!/^[\x20-\x7e]*$/.test(login.password))
    throw new UnusableRoles(`The password of ${login.role} must be printable ASCII.`);
  return login;
};

const inDatabase = (url: string, database: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(database)}`;
  return changed.href;
};

const roleStatements = async (client: pg.Client, { role, password }: Login): Promise<readonly string[]> => {
  const { rows } = await client.query<{ superuser: boolean; self: boolean }>(
    'select rolsuper as superuser, rolname = current_user as self from pg_roles where rolname = $1',
    [role],
  );
  const [found] = rows;
  if (found?.superuser || found?.self)
    throw new UnusableRoles(
      `${role} administers the server: give the service roles of its own, which this command creates.`,
    );
  const secret = password === '' ? '' : ` password '${scramVerifier(password, randomBytes(16))}'`;
  if (found) return secret === '' ? [] : [`alter role ${id(role)} with login${secret}`];
  return [
    `create role ${id(role)} with login nosuperuser nocreatedb nocreaterole noreplication nobypassrls${secret}`,
  ];
};

/** Only the owner may create schemas, and nobody else temporary tables. */
const databaseStatements = (owner: Login, application: Login): readonly string[] => [
  `revoke create, temporary on database ${id(owner.database)} from public`,
  `grant connect, create on database ${id(owner.database)} to ${id(owner.role)}`,
  `grant connect on database ${id(owner.database)} to ${id(application.role)}`,
];

/** Everything in the service's schemas that another role owns, from before there was a separate owner. */
const ownershipStatements = async (
  client: pg.Client,
  modules: Migrated,
  owner: string,
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ statement: string }>(OWNED_BY_OTHERS, [
    serviceSchemas(modules),
    owner,
  ]);
  const moves = rows.map(({ statement }) => statement);
  const { rows: who } = await client.query<{ superuser: boolean; open: boolean }>(
    `select rolsuper as superuser, exists (select from pg_namespace
       where nspname = 'public' and has_schema_privilege('public', oid, 'create')) as open
     from pg_roles where rolname = current_user`,
  );
  // Only a superuser, or a member of both roles, may change the owner of an object.
  const membership = moves.length > 0 && !who[0]?.superuser ? [`grant ${id(owner)} to current_user`] : [];
  // Databases created before PostgreSQL 15 leave it open to everyone.
  const closing = who[0]?.open ? ['revoke create on schema public from public'] : [];
  return [...closing, ...membership, ...moves];
};

/**
 * Sequences of serial and identity columns, and row types, follow their table. $1 schemas, $2 the owner, which may not
 * exist yet.
 */
const OWNED_BY_OTHERS = `
  with service as (select oid, nspname, nspowner from pg_namespace where nspname = any($1)),
  rightful as (select coalesce((select oid from pg_roles where rolname = $2), 0) as owner)
  select format('alter schema %I owner to %I', nspname, $2::text) as statement, 1 as step
    from service, rightful where nspowner <> owner
  union all
  select format('alter table %I.%I owner to %I', nspname, relname, $2::text), 2
    from pg_class c join service s on s.oid = c.relnamespace, rightful
   where relkind in ('r', 'p', 'v', 'm', 'f') and relowner <> owner
  union all
  select format('alter sequence %I.%I owner to %I', nspname, relname, $2::text), 3
    from pg_class c join service s on s.oid = c.relnamespace, rightful
   where relkind = 'S' and relowner <> owner
     and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass
                       and d.deptype in ('a', 'i'))
  union all
  select format('alter routine %s owner to %I', p.oid::regprocedure, $2::text), 4
    from pg_proc p join service s on s.oid = p.pronamespace, rightful where proowner <> owner
  union all
  select format('alter type %I.%I owner to %I', nspname, typname, $2::text), 5
    from pg_type t join service s on s.oid = t.typnamespace, rightful
   where typowner <> owner and typelem = 0
     and (typtype in ('e', 'd', 'r')
       or (typtype = 'c' and exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c')))
  order by step, statement`;

/** PostgreSQL's default (`scram_iterations`). */
const ITERATIONS = 4_096;
const HASH_BYTES = 32;

/**
 * What PostgreSQL stores instead of a password (RFC 5802, RFC 7677), in its own notation. A statement with it puts no
 * password into the server's log and can be shown.
 * @param password printable ASCII: other characters would need normalisation first (SASLprep)
 * @param salt 16 random bytes
 */
const scramVerifier = (password: string, salt: Uint8Array): string => {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, 'sha256');
  const keyed = (label: string): Buffer => createHmac('sha256', salted).update(label).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`;
};
