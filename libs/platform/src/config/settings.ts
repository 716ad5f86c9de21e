import { z } from 'zod';
import { count, flag, milliseconds, setting } from './setting.js';

/** Every role needs a process somewhere; any number of processes may share one, without a leader. */
export const WORKER_ROLES = ['follow', 'jobs', 'webhooks', 'upkeep'] as const;
export type WorkerRole = (typeof WORKER_ROLES)[number];

const base64Key = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64');

/**
 * The connections and bounds that every process has. Modules add theirs (`libs/<module>/src/settings.ts`). Names are
 * environment variables; units are in the name or the description. Validated once, at start-up.
 */
export const settings = z
  .object({
    HOST: setting(z.string().default('127.0.0.1'), 'address the API listens on'),
    PORT: setting(
      z.coerce.number().int().min(0).max(65_535).default(3000),
      'port the API listens on; 0 lets the system choose',
    ),
    DATABASE_URL: setting(
      z.url({ protocol: /^postgres(ql)?$/ }),
      'PostgreSQL, as postgresql://user:password@host:port/database',
    ),
    DATABASE_OWNER_URL: setting(
      z.url({ protocol: /^postgres(ql)?$/ }).optional(),
      'the same database as the role that owns its schemas, for ops migrate and ops projections; never needed by API or worker',
    ),
    DATABASE_POOL_SIZE: count(12, 'connections per process'),
    DATABASE_CONNECT_TIMEOUT_MS: milliseconds(2_000, 'a query that gets no connection within this fails'),
    DATABASE_QUERY_TIMEOUT_MS: milliseconds(5_000, 'a query not answered within this fails'),
    EVENTSTORE_URL: setting(
      z.string().regex(/^esdb(\+discover)?:\/\//, 'must begin with esdb://'),
      'EventStoreDB, as esdb://user:password@host:port?tlsCAFile=/path/to/ca.crt',
    ),
    EVENT_STORE_APPEND_TIMEOUT_MS: milliseconds(
      1_000,
      'an append not answered within this is repeated once, then 503',
    ),
    EVENT_STORE_READ_TIMEOUT_MS: milliseconds(
      2_000,
      'a read that yields nothing for this long, or gets no slot, fails',
    ),
    EVENT_STORE_READS: setting(
      z.coerce.number().int().min(1).max(80).default(60),
      'reads of the event store under way at a time in one process, 80 at most; the store takes 100 calls on a connection',
    ),
    EVENT_STORE_STUCK_MS: milliseconds(
      15_000,
      'calls of the event store that fail for this long, while a fresh connection is answered, make the process open a new one',
    ),
    EVENT_STORE_GIVE_UP_MS: milliseconds(
      30_000,
      'an API whose connection to the event store cannot be helped ends after this, for its supervisor to start another',
    ),
    EVENT_STORE_PROXY: flag(
      'let http_proxy, https_proxy and grpc_proxy of the environment redirect the connection to the event store (1 or 0)',
    ),
    ENCRYPTION_KEYS: setting(
      z.string().transform((text, context) => parseKeys(text, context)),
      'key-encryption keys, id:base64 of 32 bytes, comma-separated; the first seals, the others only open',
    ),
    KEY_PROVIDER: setting(
      z.enum(['environment', 'file', 'vault']).default('environment'),
      'who keeps the keys that wrap the keys of readings: environment (ENCRYPTION_KEYS), file (KEY_DIRECTORY) or vault (KEY_VAULT_URL); the latter two in epochs, whose keys are destroyed',
    ),
    KEY_DIRECTORY: setting(
      z.string().min(1).optional(),
      'folder of the keys of epochs, the same one for every process; apart from PostgreSQL and its backups',
    ),
    KEY_EPOCH_MS: setting(
      z.coerce.number().int().min(1_000).default(604_800_000),
      'how long one key wraps the keys of readings (ms)',
    ),
    KEY_RETENTION_MS: milliseconds(
      3_024_000_000,
      'how long the key of an epoch is kept after its end; a backup older than this opens nothing',
    ),
    KEY_DESTROY_NOTICE_MS: count(
      86_400_000,
      'least time between announcing that a key is destroyed and destroying it (ms)',
      0,
    ),
    KEY_CLOCK_SKEW_MS: milliseconds(
      300_000,
      'no key is destroyed while the clocks of worker, PostgreSQL and event log are further apart',
    ),
    KEY_EPOCH_CACHE_MS: milliseconds(
      300_000,
      'how long the opened key of an epoch is used without asking again; twelve times as long while its keeper is away',
    ),
    KEY_UPKEEP_EVERY_MS: milliseconds(
      60_000,
      'how often surviving keys are wrapped anew and due ones destroyed',
    ),
    KEY_VAULT_URL: setting(
      z
        .string()
        .regex(
          /^(https:\/\/|http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/])/,
          'must begin with https:// (http:// on loopback alone)',
        )
        .optional(),
      'HashiCorp Vault, or what speaks its transit API, as https://vault.example.com:8200',
    ),
    KEY_VAULT_MOUNT: setting(
      z
        .string()
        .regex(/^[\w-]+(\/[\w-]+)*$/, 'must be a path such as transit')
        .default('transit'),
      'where its transit engine is mounted',
    ),
    KEY_VAULT_PREFIX: setting(
      z
        .string()
        .regex(/^[\w-]{1,64}$/, 'must be letters, digits, _ and -')
        .default('reading-service'),
      'what the names of keys there begin with',
    ),
    KEY_VAULT_NAMESPACE: setting(z.string().min(1).optional(), 'its namespace'),
    KEY_VAULT_TOKEN: setting(z.string().min(1).optional(), 'token for it; rather use KEY_VAULT_TOKEN_FILE'),
    KEY_VAULT_TOKEN_FILE: setting(
      z.string().min(1).optional(),
      'file with the token, read anew for each call, as an agent keeps it',
    ),
    KEY_VAULT_CA_FILE: setting(
      z.string().min(1).optional(),
      'certificates (PEM) by which it is known, instead of the system’s',
    ),
    KEY_VAULT_TIMEOUT_MS: milliseconds(
      1_000,
      'longest wait for one of its answers; asked three times at most',
    ),
    DIGEST_KEY: setting(
      base64Key,
      'key of digests over personal data and of idempotent reading ids, base64 of 32 bytes',
    ),
    LOG_LEVEL: setting(
      z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
      'fatal, error, warn, info, debug or silent',
    ),
    METRICS_PORT: setting(
      z.coerce.number().int().min(0).max(65_535).optional(),
      'port of GET /metrics (Prometheus), never the public one; without it metrics are not served; 0 lets the system choose',
    ),
    METRICS_HOST: setting(z.string().default('127.0.0.1'), 'address that /metrics listens on'),
    HTTP_BODY_LIMIT_BYTES: count(16_384, 'largest request body (bytes)'),
    HTTP_HEADERS_TIMEOUT_MS: milliseconds(
      8_000,
      'a connection that has not sent the headers of its request within this is closed',
    ),
    HTTP_REQUEST_TIMEOUT_MS: milliseconds(
      30_000,
      'a connection that has not sent its whole request within this is closed',
    ),
    HTTP_CONNECTIONS: count(10_000, 'open connections of an API process; further ones are closed'),
    HTTP_CONNECTIONS_PER_ADDRESS: count(
      500,
      'open connections from one address; not looked at with TRUSTED_PROXIES, since connections are then those of the proxies',
    ),
    HTTP_WAITING_REQUESTS: count(
      4,
      'requests that may wait on one connection for the answer to the one before; with more the connection is closed',
      0,
    ),
    HTTP_ANSWER_TIMEOUT_MS: milliseconds(
      60_000,
      'a connection that has not taken an answer within this is closed',
    ),
    HTTP_REFUSAL_HOLD_MS: milliseconds(
      1_000,
      'how long, in the middle, a 429 for an address is held back, so that asking again at once gains nothing',
    ),
    HTTP_DRAIN_MS: milliseconds(8_000, 'longest wait for open requests when stopping'),
    AUDIT_RETENTION_DAYS: count(400, 'how long audit records are kept (days)'),
    AUDIT_FLUSH_MS: milliseconds(
      250,
      'how often audit records are written: those of so long are lost with a process that is killed',
    ),
    AUDIT_BUFFER_RECORDS: count(
      10_000,
      'audit records a process keeps while PostgreSQL is away (about 500 bytes each); beyond, personal data is not given out (503) and other requests are not recorded',
    ),
    AUDIT_REFUSED_ROWS_PER_MINUTE: count(
      1_000,
      'audit records of refused requests a process writes per minute, of each kind: of known callers, 401, other refusals of unknown callers, and refusals at the door; beyond, they are only counted',
    ),
    SUBJECT_KEY_CACHE_MS: milliseconds(
      2_000,
      'how long the opened key of a reading is kept; an erasure takes effect within it',
    ),
    RATE_READ_PER_MINUTE: count(1_200, 'GET requests of a workspace per minute'),
    RATE_READ_BURST: count(200, 'GET requests of a workspace at once'),
    RATE_CREATE_PER_MINUTE: count(300, 'readings a workspace may ask for per minute'),
    RATE_CREATE_BURST: count(100, 'readings a workspace may ask for at once'),
    RATE_MANAGE_PER_MINUTE: count(120, 'other requests of a workspace per minute'),
    RATE_MANAGE_BURST: count(60, 'other requests of a workspace at once'),
    RATE_UNAUTHENTICATED_PER_MINUTE: count(
      30,
      'requests with missing or wrong credentials from one address per minute',
    ),
    RATE_PUBLIC_PER_MINUTE: count(
      600,
      'other requests that nothing proves who sends (public routes, unknown paths) from one address per minute; a /64 of IPv6 is one address',
    ),
    RATE_PUBLIC_BURST: count(60, 'such requests from one address at once'),
    RATE_PROBE_PER_MINUTE: count(
      600,
      'requests for /healthz and /readyz from one address per minute, which count apart; beyond, the last answer is given again',
    ),
    RATE_PROBE_BURST: count(60, 'requests for /healthz and /readyz from one address at once'),
    RATE_ADDRESSES: count(
      20_000,
      'addresses that a process counts apart; when more are active, new ones share one count',
    ),
    TRUSTED_PROXIES: count(0, 'reverse proxies in front, whose X-Forwarded-For is believed', 0),
    READINESS_WORKER_MS: milliseconds(10_000, 'a worker not heard of for this long counts as absent'),
    READINESS_LAG_MS: milliseconds(
      60_000,
      'the service is not ready while a consumer has left an event unhandled for this long',
    ),
    WORKER_ROLES: setting(
      z
        .string()
        .default('follow,jobs,webhooks,upkeep')
        .transform((text) => [...new Set(text.split(',').map((role) => role.trim()))])
        .pipe(z.array(z.enum(WORKER_ROLES, 'must be some of follow, jobs, webhooks and upkeep'))),
      'what a worker process does, comma-separated: follow (projections and processes), jobs (generation, publication, replay), webhooks (delivery), upkeep (fences, rescues, reconciliation, clean-up)',
    ),
    WORKER_CONCURRENCY: count(4, 'jobs one worker process carries out at a time'),
  })
  .superRefine((config, context) => requireKeyKeeper(config, context));

export type Config = z.infer<typeof settings>;

/** What a module reads: the platform's settings and its own, by its shape. */
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
      message: 'must be id:base64 pairs, each id once and of a–z and 0–9, keys of 32 bytes',
    });
  }
  return keys;
};

interface KeyKeeper {
  readonly KEY_PROVIDER: string;
  readonly KEY_DIRECTORY?: string | undefined;
  readonly KEY_VAULT_URL?: string | undefined;
  readonly KEY_VAULT_TOKEN?: string | undefined;
  readonly KEY_VAULT_TOKEN_FILE?: string | undefined;
}

/** Reports the settings that the chosen keeper of keys needs and lacks. */
const requireKeyKeeper = (
  { KEY_PROVIDER, KEY_DIRECTORY, KEY_VAULT_URL, KEY_VAULT_TOKEN, KEY_VAULT_TOKEN_FILE }: KeyKeeper,
  context: z.RefinementCtx,
): void => {
  const report = (name: keyof KeyKeeper): void =>
    context.addIssue({ code: 'custom', path: [name], message: 'is required' });
  if (KEY_PROVIDER === 'file' && !KEY_DIRECTORY) report('KEY_DIRECTORY');
  if (KEY_PROVIDER === 'vault' && !KEY_VAULT_URL) report('KEY_VAULT_URL');
  if (KEY_VAULT_URL && !KEY_VAULT_TOKEN && !KEY_VAULT_TOKEN_FILE) report('KEY_VAULT_TOKEN_FILE');
};
