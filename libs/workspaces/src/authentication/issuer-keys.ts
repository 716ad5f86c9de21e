import { createLocalJWKSet, type CryptoKey, type JWK, type JWSHeaderParameters } from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '#event-sourcing/core/clock.js';

/**
 * The key of a token, by its header; `null` when the issuer does not have it, or more than one that may be meant.
 * @throws KeysUnavailable when that is currently unknown
 */
export type IssuerKeys = (header: JWSHeaderParameters) => Promise<CryptoKey | null>;

/** The issuer's keys cannot be fetched, and the known ones are too old to be trusted. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const keySet = z.object({ keys: z.array(z.unknown()) });
const isKey = (one: unknown): one is JWK => typeof one === 'object' && one !== null && !Array.isArray(one);

/**
 * The keys of a JSON Web Key Set (RFC 7517). One that is unusable does not affect the others.
 * @throws Error when it is no key set
 */
export const keysOf = (value: unknown): IssuerKeys => {
  const find = createLocalJWKSet({ keys: keySet.parse(value).keys.filter(isKey) });
  return (header) => find(header).catch(() => null);
};

/** What is taken of an issuer's key set: bytes that are read, and the longest wait for it (ms). */
export const KEY_SET_BOUNDS = { maxBytes: 65_536, timeoutMs: 3_000 };

/**
 * Fetches a key set: one response, no redirect, limited time and size.
 * @throws Error whose message names the fault and quotes nothing from the response
 */
const fetchKeys = async (
  url: string,
  { timeoutMs, maxBytes }: typeof KEY_SET_BOUNDS,
): Promise<IssuerKeys> => {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
    headers: { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' },
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the exchange.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new Error(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return keysOf(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  } catch {
    throw new Error('the response is not a key set');
  }
};

/** The age of a key set from which it is fetched again, and up to which its keys are valid without that (ms). */
const [FRESH_MS, STALE_MS] = [600_000, 3_600_000];
/** The pause before a key set is fetched for a key that it did not have (ms), so that bad tokens cost the issuer nothing. */
const COOLDOWN_MS = 30_000;
/** The pause after a failure (ms). */
const RETRY_MS = 5_000;
const LOG_EVERY_MS = 60_000;

/**
 * Keys fetched from the issuer, as rarely as possible, with one request at a time, shared by all callers. Known keys stay
 * valid while fetching fails.
 */
export class FetchedKeys {
  private known: { readonly keys: IssuerKeys; readonly fetchedAt: number } | null = null;
  private failedAt: number | null = null;
  private fetching: Promise<void> | null = null;
  private loggedAt = -Infinity;

  constructor(
    private readonly url: string,
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'warn'>,
    private readonly bounds: typeof KEY_SET_BOUNDS,
  ) {}

  readonly find: IssuerKeys = async (header) => {
    await this.renew();
    const found = await this.match(header);
    if (found) return found;
    if (this.age >= COOLDOWN_MS && !this.isPausing()) {
      await this.fetch();
      const renewed = await this.match(header);
      if (renewed) return renewed;
    }
    // The issuer may have added the key meanwhile.
    if (this.failedAt !== null) throw new KeysUnavailable();
    return null;
  };

  private async match(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    return this.known && this.age < STALE_MS ? this.known.keys(header) : null;
  }

  /** Waits for the issuer only when the known keys cannot be used. Otherwise the fetch runs in the background. */
  private async renew(): Promise<void> {
    if (this.age < FRESH_MS || this.isPausing()) return;
    const fetched = this.fetch();
    if (this.age >= STALE_MS || this.failedAt === null) await fetched;
  }

  private isPausing(): boolean {
    return this.failedAt !== null && this.clock.now() - this.failedAt < RETRY_MS;
  }

  private get age(): number {
    return this.known ? this.clock.now() - this.known.fetchedAt : Infinity;
  }

  private fetch(): Promise<void> {
    this.fetching ??= this.download().finally(() => {
      this.fetching = null;
    });
    return this.fetching;
  }

  private async download(): Promise<void> {
    try {
      this.known = { keys: await fetchKeys(this.url, this.bounds), fetchedAt: this.clock.now() };
      this.failedAt = null;
    } catch (error) {
      this.failedAt = this.clock.now();
      this.logFailure(error instanceof Error ? error.message : 'unknown');
    }
  }

  /** One line a minute: the issuer may be unavailable for days. */
  private logFailure(reason: string): void {
    if (this.clock.now() - this.loggedAt < LOG_EVERY_MS) return;
    this.loggedAt = this.clock.now();
    this.log.warn({ component: 'bearer-tokens', reason }, 'the issuer’s keys could not be fetched');
  }
}
