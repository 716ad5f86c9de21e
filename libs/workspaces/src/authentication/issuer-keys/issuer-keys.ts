import type { Logger } from 'pino';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { TokenShape } from '../tokens/token-shape.js';
import { fetchKeySet } from './fetch-key-set.js';
import { findKey, readKeySet, type KeySet, type UnusedKey, type VerificationKey } from './key-set.js';
import type { Config } from '../../settings.js';

export type IssuerSettings = Pick<
  Config,
  | 'TOKEN_JWKS'
  | 'TOKEN_JWKS_URL'
  | 'TOKEN_JWKS_TIMEOUT_MS'
  | 'TOKEN_JWKS_MAX_BYTES'
  | 'TOKEN_JWKS_MAX_KEYS'
  | 'TOKEN_JWKS_FRESH_MS'
  | 'TOKEN_JWKS_STALE_MS'
  | 'TOKEN_JWKS_COOLDOWN_MS'
  | 'TOKEN_JWKS_RETRY_MS'
>;

export type Named = Pick<TokenShape, 'kid' | 'algorithm'>;

/** Where the issuer's public keys come from. */
export interface IssuerKeys {
  /**
   * The key of a token; `null`: the issuer has none such.
   * @throws KeysUnavailable when that cannot be told now
   */
  find(token: Named): Promise<VerificationKey | null>;
}

/** The issuer's keys cannot be had, and those known are too old to be trusted. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const LOG_EVERY_MS = 60_000;
/** Of keys that are not used, those that a log line names. */
const NAMED_AT_MOST = 5;

/** Keys that the configuration holds. */
export const fixedKeys = (
  value: unknown,
  settings: IssuerSettings,
  log: Pick<Logger, 'warn'>,
): IssuerKeys => {
  const { keys, unused } = readKeySet(value, settings.TOKEN_JWKS_MAX_KEYS) ?? { keys: [], unused: [] };
  tellUnused(unused, log);
  return { find: async (token) => findKey(keys, token) };
};

/**
 * Keys that are fetched from the issuer, and asked for as seldom as can be: again when they are older than
 * TOKEN_JWKS_FRESH_MS, and for a key that is not among them at most every TOKEN_JWKS_COOLDOWN_MS, so that bad tokens cost
 * the issuer nothing. One request at a time, whoever waits. A failure is kept for TOKEN_JWKS_RETRY_MS; meanwhile, and
 * for TOKEN_JWKS_STALE_MS after they were fetched, the keys known stay good.
 */
export class FetchedKeys implements IssuerKeys {
  private known: (KeySet & { readonly fetchedAt: number }) | null = null;
  private failedAt: number | null = null;
  private fetching: Promise<void> | null = null;
  private loggedAt = -Infinity;
  private told = '';

  constructor(
    private readonly url: string,
    private readonly settings: IssuerSettings,
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  async find(token: Named): Promise<VerificationKey | null> {
    await this.renew();
    const found = this.match(token);
    if (found) return found;
    if (this.mayAskForMore()) {
      await this.fetch();
      const renewed = this.match(token);
      if (renewed) return renewed;
    }
    // The key may be one that the issuer has made meanwhile.
    if (this.failedAt !== null) throw new KeysUnavailable();
    return null;
  }

  private match(token: Named): VerificationKey | null {
    return this.known && this.ageOf(this.known) < this.settings.TOKEN_JWKS_STALE_MS
      ? findKey(this.known.keys, token)
      : null;
  }

  /** Waits for the issuer only where its keys are not to be used without; else it is asked beside. */
  private async renew(): Promise<void> {
    const { TOKEN_JWKS_FRESH_MS: fresh, TOKEN_JWKS_STALE_MS: stale } = this.settings;
    const age = this.known ? this.ageOf(this.known) : Infinity;
    if (age < fresh || this.isPausing()) return;
    const fetched = this.fetch();
    if (age >= stale || this.failedAt === null) await fetched;
  }

  private mayAskForMore(): boolean {
    const cooled = !this.known || this.ageOf(this.known) >= this.settings.TOKEN_JWKS_COOLDOWN_MS;
    return cooled && !this.isPausing();
  }

  private isPausing(): boolean {
    return this.failedAt !== null && this.clock.now() - this.failedAt < this.settings.TOKEN_JWKS_RETRY_MS;
  }

  private ageOf({ fetchedAt }: { readonly fetchedAt: number }): number {
    return this.clock.now() - fetchedAt;
  }

  private fetch(): Promise<void> {
    this.fetching ??= this.ask().finally(() => {
      this.fetching = null;
    });
    return this.fetching;
  }

  private async ask(): Promise<void> {
    const {
      TOKEN_JWKS_TIMEOUT_MS: timeoutMs,
      TOKEN_JWKS_MAX_BYTES: maxBytes,
      TOKEN_JWKS_MAX_KEYS,
    } = this.settings;
    try {
      const read = readKeySet(await fetchKeySet(this.url, { timeoutMs, maxBytes }), TOKEN_JWKS_MAX_KEYS);
      if (!read) throw new Error('answered what is no key set');
      this.known = { ...read, fetchedAt: this.clock.now() };
      this.failedAt = null;
      const told = JSON.stringify(read.unused);
      if (told !== this.told) tellUnused(read.unused, this.log);
      this.told = told;
    } catch (error) {
      this.failedAt = this.clock.now();
      this.tellFailure(error instanceof Error ? error.message : 'unknown');
    }
  }

  /** One line a minute: the portal may be away for days. */
  private tellFailure(reason: string): void {
    if (this.clock.now() - this.loggedAt < LOG_EVERY_MS) return;
    this.loggedAt = this.clock.now();
    this.log.warn({ component: 'bearer-tokens', reason }, 'the issuer’s keys could not be fetched');
  }
}

const tellUnused = (unused: readonly UnusedKey[], log: Pick<Logger, 'warn'>): void => {
  if (unused.length === 0) return;
  log.warn(
    { component: 'bearer-tokens', unused: unused.slice(0, NAMED_AT_MOST), count: unused.length },
    'some of the issuer’s keys are not used: tokens signed with them are refused',
  );
};
