import ipaddr from 'ipaddr.js';
import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';

/** Every role needs a process somewhere; any number of processes may share one, without a leader. */
export const WORKER_ROLES = ['follow', 'jobs', 'webhooks', 'upkeep'] as const;
export type WorkerRole = (typeof WORKER_ROLES)[number];

/** One environment variable: its type and default, and the sentence `--help` prints for it. */
const setting = <S extends z.ZodType>(schema: S, description: string): S => schema.describe(description);

const milliseconds = (fallback: number, description: string) =>
  setting(z.coerce.number().int().positive().default(fallback), `${description} (ms)`);
const count = (fallback: number, description: string, minimum = 1) =>
  setting(z.coerce.number().int().min(minimum).default(fallback), description);
const flag = (description: string) =>
  setting(
    z
      .enum(['0', '1', 'true', 'false'])
      .default('0')
      .transform((text) => text === '1' || text === 'true'),
    description,
  );
const base64Key = z
  .string()
  .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64');

/**
 * Every bound and every connection of the service. Names are environment variables; units are in the name or the
 * description. Validated once, at start-up.
 */
export const settings = z.object({
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
  ENQUEUE_TIMEOUT_MS: milliseconds(2_500, 'a request not accepted within this is answered 503'),
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
  KEY_ABANDONED_AFTER_MS: milliseconds(
    3_600_000,
    'age at which the key of a request that never became a reading is deleted',
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
  KEY_VAULT_TIMEOUT_MS: milliseconds(1_000, 'longest wait for one of its answers; asked three times at most'),
  DIGEST_KEY: setting(
    base64Key,
    'key of digests over personal data and of idempotent reading ids, base64 of 32 bytes',
  ),
  TOKEN_ISSUER: setting(
    z.string().min(1).optional(),
    'issuer of bearer tokens (the claim iss); without it no token is accepted',
  ),
  TOKEN_AUDIENCE: setting(z.string().min(1).default('reading-service'), 'audience of bearer tokens (aud)'),
  TOKEN_JWKS_URL: setting(
    z
      .url({ protocol: /^https$/, error: 'must be of the form https://host/path' })
      .refine(
        (text) => /^https:\/\/[^/@?#]+([/?][^#]*)?$/i.test(text),
        'must be of the form https://host/path, without login and fragment',
      )
      .optional(),
    'where the public keys of the issuer are, as https://…/jwks.json',
  ),
  TOKEN_JWKS: setting(
    z
      .string()
      .transform((text, context) => parseJwks(text, context))
      .optional(),
    'the public keys of the issuer themselves, a JSON Web Key Set; used instead of TOKEN_JWKS_URL',
  ),
  TOKEN_MAX_BYTES: count(8_192, 'longest bearer token that is looked at (bytes)'),
  TOKEN_JWKS_TIMEOUT_MS: milliseconds(3_000, 'longest wait for the issuer’s keys'),
  TOKEN_JWKS_MAX_BYTES: count(65_536, 'largest key set that is read (bytes)'),
  TOKEN_JWKS_MAX_KEYS: count(32, 'keys of a set that are used'),
  TOKEN_JWKS_FRESH_MS: milliseconds(
    600_000,
    'how long fetched keys are used without asking the issuer again',
  ),
  TOKEN_JWKS_STALE_MS: milliseconds(
    3_600_000,
    'how long fetched keys stay good while the issuer cannot be reached',
  ),
  TOKEN_JWKS_COOLDOWN_MS: milliseconds(
    30_000,
    'pause before the issuer is asked for a key that its set did not have',
  ),
  TOKEN_JWKS_RETRY_MS: milliseconds(5_000, 'pause before the issuer is asked again after a failure'),
  TOKEN_SIGNING_KEY: setting(
    z.string().optional(),
    'private key (JWK) with which ops token mint signs; the embedded stack’s own issuer, never needed by API or worker',
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
  API_KEY_CACHE_MS: milliseconds(
    3_000,
    'how long a verified API key is trusted without asking again: a revocation takes effect at once, and within this in a process that is cut off from PostgreSQL',
  ),
  API_KEYS_PER_WORKSPACE: count(100, 'API keys of a workspace that may be active at once'),
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
  READINGS_IN_FLIGHT: count(1_000, 'readings of a workspace that may be queued or processing'),
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
  READING_ATTEMPTS: count(5, 'attempts at a reading before it fails'),
  READING_LEASE_MS: milliseconds(60_000, 'how long one attempt owns a reading'),
  READING_RETRY_MS: milliseconds(2_000, 'pause before the second attempt; doubles each time'),
  READING_DELAYED_AFTER_MS: milliseconds(
    300_000,
    'reading.delayed fires when a reading is not finished by then',
  ),
  READING_TIMEOUT_MS: milliseconds(86_400_000, 'a reading not finished by then fails as timed_out'),
  RESERVATION_FENCE_MS: milliseconds(
    60_000,
    'age at which a hold without a reading is abandoned and released',
  ),
  RESERVATION_SWEEP_MS: milliseconds(15_000, 'how often holds without a reading are looked for'),
  LEDGER_RECONCILE_EVERY_MS: milliseconds(
    3_600_000,
    'how often one worker compares captures, completed readings and balances',
  ),
  LEDGER_RECONCILE_GRACE_MS: milliseconds(
    60_000,
    'how long a completed reading may wait for its capture before that is a difference',
  ),
  PDF_THREADS: count(1, 'threads that typeset PDFs, per worker process'),
  DOCUMENT_WAIT_MS: milliseconds(5_000, 'longest wait for the publication of a completed reading'),
  WEBHOOK_ALLOW_HTTP: flag('accept http:// webhook URLs (1 or 0)'),
  WEBHOOK_ALLOW_CIDRS: setting(
    z
      .string()
      .default('')
      .transform((text) =>
        text
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean),
      )
      .refine(
        (ranges) => ranges.every((range) => ipaddr.isValidCIDR(range)),
        'must be ranges such as 10.0.0.0/8',
      ),
    'private ranges webhooks may reach, comma-separated, for tests and self-hosting; metadata addresses stay closed',
  ),
  WEBHOOK_PROXY_URL: setting(
    z
      .url({ protocol: /^http$/, error: 'must be of the form http://host:port' })
      .refine(
        (text) => /^http:\/\/([^/?#%]|%[0-7][0-9a-f])+\/?$/i.test(text),
        'must be of the form http://host:port',
      )
      .optional(),
    'HTTP proxy (CONNECT) through which webhooks are sent, as http://host:port or http://user:password@host:port',
  ),
  WEBHOOK_ENDPOINTS_PER_WORKSPACE: count(16, 'webhook endpoints per workspace'),
  WEBHOOK_CONNECT_TIMEOUT_MS: milliseconds(5_000, 'longest wait for a connection to a receiver'),
  WEBHOOK_ATTEMPT_TIMEOUT_MS: milliseconds(15_000, 'longest whole exchange with a receiver'),
  WEBHOOK_ENDPOINT_CONCURRENCY: count(5, 'deliveries in flight per endpoint'),
  WEBHOOK_WORKSPACE_CONCURRENCY: count(25, 'deliveries in flight per workspace'),
  WEBHOOK_RETRY_SCHEDULE_MS: setting(
    z
      .string()
      .default('0,5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000')
      .transform((text) => text.split(',').map(Number))
      .refine(
        (steps) => steps.length > 0 && steps.every((step) => Number.isFinite(step) && step >= 0),
        'must be milliseconds, comma-separated',
      ),
    'pause before each attempt, comma-separated (ms)',
  ),
  WEBHOOK_LEASE_MS: milliseconds(
    25_000,
    'how long a worker owns a delivery; a killed worker’s deliveries are retaken after it',
  ),
  WEBHOOK_REPLAY_GIVE_UP_MS: milliseconds(
    86_400_000,
    'a replay that nobody could go on with for this long is stopped, so that another can begin',
  ),
  WEBHOOK_DRY_RUNS_PER_ENDPOINT: count(10, 'dry runs of replays that may wait for each endpoint'),
  WEBHOOK_TRIALS_PER_ENDPOINT: count(10, 'trial events that may wait to be sent to each endpoint'),
  WEBHOOK_DISABLE_AFTER_MS: milliseconds(
    432_000_000,
    'an endpoint without a success for this long, and 10 failures, is disabled',
  ),
});

export type Config = z.infer<typeof settings>;

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

const parseJwks = (text: string, context: z.RefinementCtx): JSONWebKeySet => {
  try {
    const { keys } = JSON.parse(text) as JSONWebKeySet;
    if (Array.isArray(keys) && keys.length > 0 && keys.every(({ kty, d }) => kty && d === undefined))
      return { keys };
  } catch {
    // Told below, as any other text that is no set of keys.
  }
  context.addIssue({ code: 'custom', message: 'must be a JSON Web Key Set of public keys, {"keys":[…]}' });
  return z.NEVER;
};
