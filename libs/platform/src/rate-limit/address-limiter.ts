import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Digester } from '../crypto/digest.js';
import type { Problem } from '../http/problem.js';
import { within } from '../async/within.js';
import { clientAddress } from './address.js';
import { LocalBuckets } from './local-buckets.js';
import { rateLimited, type RatePolicies, type RatePolicy } from './policies.js';
import { RATE_POLICIES } from './rate-limit.guard.js';
import { ASKED_WITHIN_MS, RateLimiter } from './rate-limiter.js';

/**
 * Counts requests without valid credentials by address, first in this process, then across all processes. An address
 * without tokens here costs no statement.
 */
@Injectable()
export class AddressLimiter {
  private readonly policy: RatePolicy;
  private readonly here: LocalBuckets;

  constructor(
    private readonly limiter: RateLimiter,
    private readonly digester: Digester,
    @Inject(RATE_POLICIES) policies: RatePolicies,
  ) {
    this.policy = policies.unauthenticated;
    this.here = new LocalBuckets(this.policy);
  }

  /** Counts one more request. @returns the refusal for an address that has sent too many, or null */
  async refusal(request: Request): Promise<Problem | null> {
    const address = clientAddress(request);
    const seconds = this.here.take(address);
    if (seconds > 0) return rateLimited(this.policy, { retryAfterSeconds: seconds });
    // An address is personal data, so a keyed digest of it names the bucket.
    const subject = this.digester.digest('rate-address', address).toString('base64url');
    const verdict = await within(ASKED_WITHIN_MS, this.limiter.take(subject, this.policy));
    return verdict && !verdict.allowed ? rateLimited(this.policy, verdict) : null;
  }
}
