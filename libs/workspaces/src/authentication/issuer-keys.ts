import { Inject } from '@nestjs/common';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CONFIG } from '#platform/tokens.js';
import { ExamineIssuerKeys, type IssuerKeysReport } from '../contracts/index.js';
import type { Config } from '../settings.js';

export const ALGORITHMS = ['EdDSA', 'RS256'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

export type TokenSettings = Pick<Config, 'TOKEN_ISSUER' | 'TOKEN_AUDIENCE' | 'TOKEN_JWKS' | 'TOKEN_JWKS_URL'>;

/** How a token names its key. */
export interface Named {
  readonly algorithm: Algorithm;
  /** The key's name, if the token gives one. */
  readonly kid: string | null;
}

interface FetchLimits {
  /** For the whole exchange, milliseconds. */
  readonly timeoutMs: number;
  /** Of the decoded response body. */
  readonly maxBytes: number;
}

/**
 * Fetches a JSON document: one response, no redirect, limited time and size.
 * @throws Error whose message names the fault and quotes nothing from the response
 */
const fetchKeySet = async (url: string, { timeoutMs, maxBytes }: FetchLimits): Promise<unknown> => {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    signal,
    redirect: 'manual',
    headers: { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' },
  }).catch((cause: unknown) => {
    throw new Error(signal.aborted ? `no response within ${timeoutMs} ms` : 'no connection', { cause });
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`answered ${response.status}`);
  }
  const text = await readText(response, maxBytes).catch((cause: unknown) => {
    throw new Error(signal.aborted ? `no complete response within ${timeoutMs} ms` : messageOf(cause), {
      cause,
    });
  });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('the response is not JSON');
  }
};

class TooLarge extends Error {}

const messageOf = (cause: unknown): string =>
  cause instanceof TooLarge ? cause.message : 'the response was cut off';

const readText = async ({ body }: Response, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the exchange.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new TooLarge(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** A public key that tokens may be signed with. */
export interface VerificationKey {
  readonly kid: string | null;
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
  /** Length of its signatures, bytes. */
  readonly signatureLength: number;
}

/** Why a key of the set is not used, for the operator. */
interface UnusedKey {
  /** The first part of its name, as it fits a log line; without a name, its place in the set. */
  readonly name: string;
  readonly reason: string;
}

interface KeySet {
  readonly keys: readonly VerificationKey[];
  readonly unused: readonly UnusedKey[];
}

/** Bits of an RSA modulus. Below: broken (RFC 7518, 3.3). Above: verifying takes milliseconds. */
const RSA_BITS = [2_048, 8_192] as const;
const LONGEST_NAME = 60;

const jwk = z.object({
  kty: z.string(),
  kid: z.string().optional(),
  alg: z.string().optional(),
  use: z.string().optional(),
  key_ops: z.array(z.string()).optional(),
});

/**
 * The usable keys of a JSON Web Key Set, and the unusable ones: one bad key does not affect the others.
 * Source: RFC 7517, RFC 7518, RFC 8037.
 * @returns `null` when the document is not a key set
 */
const readKeySet = (value: unknown, maxKeys: number): KeySet | null => {
  const { success, data } = z.object({ keys: z.array(z.unknown()) }).safeParse(value);
  if (!success) return null;
  const read = data.keys.slice(0, maxKeys).map((one, index) => readKey(one, index));
  const keys = distinct(read.flatMap((one) => ('key' in one ? [one] : [])));
  const isTwin = (one: VerificationKey): boolean =>
    one.kid !== null &&
    keys.some((other) => other !== one && other.kid === one.kid && other.algorithm === one.algorithm);
  const unused = [
    ...read.flatMap((one) => ('reason' in one ? [one] : [])),
    ...keys
      .filter(isTwin)
      .map(({ kid }) => ({ name: nameOf(kid ?? ''), reason: 'another key has the same kid' })),
    ...(data.keys.length > maxKeys
      ? [{ name: `${data.keys.length - maxKeys} keys`, reason: `a set has at most ${maxKeys}` }]
      : []),
  ];
  return { keys: keys.filter((one) => !isTwin(one)), unused };
};

/** The key that signed a token: the one it names, or the only one when it names none. */
const findKey = (keys: readonly VerificationKey[], { kid, algorithm }: Named): VerificationKey | null => {
  const found = keys.filter((one) => one.algorithm === algorithm && (kid === null || one.kid === kid));
  return found.length === 1 ? found[0]! : null;
};

const readKey = (value: unknown, index: number): VerificationKey | UnusedKey => {
  const parsed = jwk.safeParse(value);
  const unused = (reason: string): UnusedKey => ({
    name: nameOf(parsed.data?.kid ?? `number ${index + 1}`),
    reason,
  });
  if (!parsed.success) return unused('it is not a key');
  const { kid = null, alg, use = 'sig', key_ops: operations = ['verify'] } = parsed.data;
  if (use !== 'sig' || !operations.includes('verify')) return unused('it is not for signatures');
  const algorithm = algorithmOf(value as JsonWebKey);
  if (!algorithm || (alg ?? algorithm) !== algorithm)
    return unused('only EdDSA (Ed25519) and RS256 are used');
  if ('d' in (value as object)) return unused('it is a private key: anyone who fetches the set can sign');
  const key = importKey(value as JsonWebKey);
  if (!key) return unused('it cannot be read');
  if (algorithm === 'EdDSA') return { kid, algorithm, key, signatureLength: 64 };
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {};
  const [least, most] = RSA_BITS;
  if (bits < least || bits > most) return unused(`it has ${bits} bits; ${least} to ${most} are used`);
  return { kid, algorithm, key, signatureLength: Math.ceil(bits / 8) };
};

const algorithmOf = ({ kty, crv }: JsonWebKey): Algorithm | null => {
  if (kty === 'RSA') return 'RS256';
  return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : null;
};

const importKey = (key: JsonWebKey): KeyObject | null => {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return null;
  }
};

/** The same key under the same name counts as one. */
const distinct = (keys: readonly VerificationKey[]): readonly VerificationKey[] =>
  keys.filter(
    (one, index) => !keys.slice(0, index).some((other) => other.kid === one.kid && other.key.equals(one.key)),
  );

/** Escapes foreign text before it reaches a log or a terminal. */
const nameOf = (kid: string): string => kid.slice(0, LONGEST_NAME).replaceAll(/[^\x20-\x7e]/g, '?');

/** What is taken of an issuer's key set: keys that are used, bytes that are read, and the longest wait for it (ms). */
export const KEY_SET_BOUNDS = { keys: 32, maxBytes: 65_536, timeoutMs: 3_000 };

/** The age of a key set from which it is fetched again, and up to which its keys are valid without that (ms). */
const [FRESH_MS, STALE_MS] = [600_000, 3_600_000];
/** The pause before a key set is fetched for a key that it did not have (ms), so that bad tokens cost the issuer nothing. */
const COOLDOWN_MS = 30_000;
/** The pause after a failure (ms). */
const RETRY_MS = 5_000;

/** Where the issuer's public keys come from. */
export interface IssuerKeys {
  /**
   * The key of a token; `null` when the issuer does not have it.
   * @throws KeysUnavailable when that is currently unknown
   */
  find(token: Named): Promise<VerificationKey | null>;
}

/** The issuer's keys cannot be fetched, and the known ones are too old to be trusted. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const LOG_EVERY_MS = 60_000;
/** Most unused keys that a log line lists. */
const NAMED_AT_MOST = 5;

/** Keys from the configuration. */
export const fixedKeys = (value: unknown, log: Pick<Logger, 'warn'>): IssuerKeys => {
  const { keys, unused } = readKeySet(value, KEY_SET_BOUNDS.keys) ?? { keys: [], unused: [] };
  logUnused(unused, log);
  return { find: async (token) => findKey(keys, token) };
};

/**
 * Keys fetched from the issuer, as rarely as possible, with one request at a time, shared by all callers. Known keys stay
 * valid while fetching fails.
 */
export class FetchedKeys implements IssuerKeys {
  private known: (KeySet & { readonly fetchedAt: number }) | null = null;
  private failedAt: number | null = null;
  private fetching: Promise<void> | null = null;
  private loggedAt = -Infinity;
  private reported = '';

  constructor(
    private readonly url: string,
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'warn'>,
    private readonly bounds = KEY_SET_BOUNDS,
  ) {}

  async find(token: Named): Promise<VerificationKey | null> {
    await this.renew();
    const found = this.match(token);
    if (found) return found;
    if (this.mayFetchUnknown()) {
      await this.fetch();
      const renewed = this.match(token);
      if (renewed) return renewed;
    }
    // The issuer may have added the key meanwhile.
    if (this.failedAt !== null) throw new KeysUnavailable();
    return null;
  }

  private match(token: Named): VerificationKey | null {
    return this.known && this.ageOf(this.known) < STALE_MS ? findKey(this.known.keys, token) : null;
  }

  /** Waits for the issuer only when the known keys cannot be used. Otherwise the fetch runs in the background. */
  private async renew(): Promise<void> {
    const age = this.known ? this.ageOf(this.known) : Infinity;
    if (age < FRESH_MS || this.isPausing()) return;
    const fetched = this.fetch();
    if (age >= STALE_MS || this.failedAt === null) await fetched;
  }

  private mayFetchUnknown(): boolean {
    const cooled = !this.known || this.ageOf(this.known) >= COOLDOWN_MS;
    return cooled && !this.isPausing();
  }

  private isPausing(): boolean {
    return this.failedAt !== null && this.clock.now() - this.failedAt < RETRY_MS;
  }

  private ageOf({ fetchedAt }: { readonly fetchedAt: number }): number {
    return this.clock.now() - fetchedAt;
  }

  private fetch(): Promise<void> {
    this.fetching ??= this.download().finally(() => {
      this.fetching = null;
    });
    return this.fetching;
  }

  private async download(): Promise<void> {
    try {
      const read = readKeySet(await fetchKeySet(this.url, this.bounds), this.bounds.keys);
      if (!read) throw new Error('the response is not a key set');
      this.known = { ...read, fetchedAt: this.clock.now() };
      this.failedAt = null;
      const unused = JSON.stringify(read.unused);
      if (unused !== this.reported) logUnused(read.unused, this.log);
      this.reported = unused;
    } catch (error) {
      this.failedAt = this.clock.now();
      this.logFailure(error instanceof Error ? error.message : 'unknown');
    }
  }

  /** One line a minute: the portal may be unavailable for days. */
  private logFailure(reason: string): void {
    if (this.clock.now() - this.loggedAt < LOG_EVERY_MS) return;
    this.loggedAt = this.clock.now();
    this.log.warn({ component: 'bearer-tokens', reason }, 'the issuer’s keys could not be fetched');
  }
}

const logUnused = (unused: readonly UnusedKey[], log: Pick<Logger, 'warn'>): void => {
  if (unused.length === 0) return;
  log.warn(
    { component: 'bearer-tokens', unused: unused.slice(0, NAMED_AT_MOST), count: unused.length },
    'some of the issuer’s keys are not used: tokens signed with them are refused',
  );
};

@QueryHandler(ExamineIssuerKeys)
export class ExamineIssuerKeysHandler implements IQueryHandler<ExamineIssuerKeys> {
  constructor(@Inject(CONFIG) private readonly config: TokenSettings) {}

  async execute(): Promise<IssuerKeysReport> {
    const { TOKEN_ISSUER: issuer, TOKEN_JWKS: local, TOKEN_JWKS_URL: url } = this.config;
    const none = { used: 0, unused: [], failure: null };
    if (!issuer || (!local && !url)) return { source: 'nowhere', ...none };
    if (local) return { source: 'configuration', ...this.report(local) };
    try {
      return { source: 'url', ...this.report(await fetchKeySet(url!, KEY_SET_BOUNDS)) };
    } catch (error) {
      return { source: 'url', ...none, failure: error instanceof Error ? error.message : 'unknown' };
    }
  }

  private report(value: unknown): Omit<IssuerKeysReport, 'source'> {
    const read = readKeySet(value, KEY_SET_BOUNDS.keys);
    if (!read) return { used: 0, unused: [], failure: 'the response is not a key set' };
    return { used: read.keys.length, unused: read.unused, failure: null };
  }
}
