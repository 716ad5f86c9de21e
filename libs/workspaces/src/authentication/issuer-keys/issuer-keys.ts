import type { Logger } from 'pino';
import type { Clock } from '#event-sourcing/core/clock.js';
import type { TokenShape } from '../tokens/token-shape.js';
import { fetchKeySet } from './fetch-key-set.js';
import { findKey, readKeySet, type KeySet, type UnusedKey, type VerificationKey } from './key-set.js';

/** What is taken of an issuer's key set: keys that are used, bytes that are read, and the longest wait for it (ms). */
export const KEY_SET_BOUNDS = { keys: 32, maxBytes: 65_536, timeoutMs: 3_000 };

/** The age of a key set from which it is fetched again, and up to which its keys are valid without that (ms). */
const [FRESH_MS, STALE_MS] = [600_000, 3_600_000];
/** The pause before a key set is fetched for a key that it did not have (ms), so that bad tokens cost the issuer nothing. */
const COOLDOWN_MS = 30_000;
/** The pause after a failure (ms). */
const RETRY_MS = 5_000;

export type Named = Pick<TokenShape, 'kid' | 'algorithm'>;

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
