import { z } from 'zod';
import { STORE_DEFAULTS } from '#event-sourcing/store/event-store.js';
import { count, days, milliseconds, setting, span, wholeNumber } from './setting.js';

/** At least one process must take each role. Any number of processes may share a role, without a leader. */
export const WORKER_ROLES = ['follow', 'jobs', 'webhooks', 'upkeep'] as const;
export type WorkerRole = (typeof WORKER_ROLES)[number];

const workerRoles = z
  .string()
  .default(WORKER_ROLES.join(','))
  .transform((text) => [...new Set(text.split(',').map((role) => role.trim()))])
  .pipe(z.array(z.enum(WORKER_ROLES, 'must be one or more of follow, jobs, webhooks and upkeep')));

/** The driver knows one host, and does not look for a primary among several. */
const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  hostname: /^[^,]*$/,
  error: ({ input }) =>
    /^\w+:\/\/([^/?]*@)?[^/?@]*,/.test(String(input))
      ? 'names several hosts: name one, such as a proxy that leads to the primary'
      : 'must be a URL of PostgreSQL',
});

const base64Key = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64');

/**
 * The connections and limits of every process. Modules add theirs (`libs/<module>/src/settings.ts`). Names are
 * environment variables; units are in the name or the description. Validated once, at start-up.
 */
export const settings = z.object({
  HOST: setting(z.string().default('127.0.0.1'), 'address the API listens on'),
  PORT: setting(wholeNumber(0, 65_535).default(3000), 'port the API listens on; 0 lets the system choose'),
  DATABASE_URL: setting(postgresUrl, 'PostgreSQL, as postgresql://user:password@host:port/database'),
  DATABASE_OWNER_URL: setting(
    postgresUrl.optional(),
    'the same database, with the role that owns its schemas; for ops commands that make, move or copy tables, never for API or worker',
  ),
  DATABASE_POOL_SIZE: count(12, 'connections per process'),
  DATABASE_QUERY_TIMEOUT_MS: milliseconds(
    5_000,
    'a query fails when it gets no connection within this time, or takes longer on it',
  ),
  EVENTSTORE_URL: setting(
    z.string().regex(/^esdb(\+discover)?:\/\//, 'must start with esdb://'),
    'EventStoreDB, as esdb://user:password@host:port?tlsCAFile=/path/to/ca.crt; proxies of the environment never apply to it',
  ),
  EVENT_STORE_TIMEOUT_MS: milliseconds(
    2_000,
    'a read of the event store fails when it yields nothing for this time; an append that takes half of it is repeated, for 3 s at most',
    STORE_DEFAULTS.wholePageFactor,
  ),
  CLOCK_REFUSE_MS: span(
    10_000,
    'while the clocks of a process, PostgreSQL and the event store differ by more, the process does no work that time causes, and changes no credit book (503)',
  ),
  ENCRYPTION_KEYS: setting(
    z.string().transform((text, context) => parseKeys(text, context)),
    'key-encryption keys, id:base64 of 32 bytes, comma-separated; the first seals and opens, the others only open',
  ),
  KEY_DIRECTORY: setting(
    z.string().min(1).optional(),
    'folder of keys that wrap the keys of readings, each for an epoch, and are destroyed after it; shared by all processes, kept out of PostgreSQL and its backups. Unset: ENCRYPTION_KEYS wrap them',
  ),
  KEY_EPOCH_MS: span(604_800_000, 'length of an epoch: how long one key wraps the keys of readings', 1_000),
  KEY_RETENTION_MS: span(
    3_024_000_000,
    'how long the key of an epoch is kept after the epoch ends; older backups cannot be opened',
  ),
  DIGEST_KEY: setting(
    base64Key,
    'key for digests of personal data and for idempotent reading ids, base64 of 32 bytes',
  ),
  LOG_LEVEL: setting(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
    'fatal, error, warn, info, debug or silent',
  ),
  METRICS_PORT: setting(
    wholeNumber(0, 65_535).optional(),
    'port of GET /metrics (Prometheus), never the public one; unset: no metrics are served; 0 lets the system choose',
  ),
  METRICS_HOST: setting(z.string().default('127.0.0.1'), 'address that /metrics listens on'),
  HTTP_KEEP_ALIVE_MS: milliseconds(
    75_000,
    'a connection is closed when no request follows on it; longer than a load balancer in front keeps idle ones',
    // Node adds a second.
    2,
  ),
  OPERATOR_NAME: setting(
    z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores')
      .optional(),
    'whom ops commands record as their operator; without it the login name, which in a container is the same for all',
  ),
  AUDIT_RETENTION_DAYS: days(400, 'how long audit records are kept (days)'),
  TEST_DATA_KEPT_DAYS: days(
    30,
    'how long test readings, their documents, events and deliveries are kept (days)',
  ),
  RATE_READ_PER_MINUTE: count(1_200, 'GET requests of a workspace per minute, a sixth of them at once'),
  RATE_CREATE_PER_MINUTE: count(300, 'readings a workspace may create per minute, a third of them at once'),
  RATE_MANAGE_PER_MINUTE: count(120, 'other requests of a workspace per minute, half of them at once'),
  RATE_PUBLIC_PER_MINUTE: count(
    600,
    'requests without proven sender (public routes, unknown paths) from one address per minute, a tenth of them at once; with missing or wrong credentials, a twentieth per minute; a /64 of IPv6 is one address',
  ),
  TRUSTED_PROXIES: count(0, 'number of reverse proxies in front, whose X-Forwarded-For is trusted', 0),
  READINESS_ROLES: setting(
    workerRoles,
    'the service is not ready while no worker has one of these WORKER_ROLES; /readyz and ops doctor name a missing role in any case',
  ),
  DISK_FOLDER: setting(
    z.string().min(1).optional(),
    'folder whose disk must keep DISK_RESERVE_MIB free; unset: not checked (the embedded stack sets it)',
  ),
  DISK_RESERVE_MIB: count(256, 'new work gets 503 while the disk has less free (MiB)', 0),
  WORKER_ROLES: setting(
    workerRoles,
    'roles of a worker process, comma-separated: follow (projections and processes), jobs (generation, publication, replay), webhooks (delivery), upkeep (fences, rescues, reconciliation, clean-up)',
  ),
  WORKER_CONCURRENCY: count(2, 'concurrent jobs per worker process'),
});

export type Config = z.infer<typeof settings>;

/** The settings a module reads: the platform's and its own, whose shape is `Shape`. */
export type ConfigWith<Shape extends z.ZodRawShape> = Config & z.infer<z.ZodObject<Shape>>;

export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

const parseKeys = (text: string, context: z.RefinementCtx): readonly EncryptionKey[] => {
  const keys = text.split(',').map((part) => {
    const colon = part.indexOf(':');
    return { id: part.slice(0, colon).trim(), key: Buffer.from(part.slice(colon + 1), 'base64') };
  });
  const unnamed = keys.some(({ id, key }) => !/^[a-z0-9]{1,16}$/.test(id) || key.length !== 32);
  if (unnamed || new Set(keys.map(({ id }) => id)).size < keys.length) {
    context.addIssue({
      code: 'custom',
      message: 'must be id:base64 pairs with unique ids of a–z and 0–9 and keys of 32 bytes',
    });
  }
  return keys;
};
