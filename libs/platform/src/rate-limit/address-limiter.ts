import { Inject, Injectable } from '@nestjs/common';
import { Digester } from '../crypto/digest.js';
import type { Problem } from '../http/problem.js';
import type { RatePolicies } from './policies.js';
import { within } from '../process/within.js';
import { ASKED_WITHIN_MS, RATE_POLICIES, rateLimited } from './rate-limit.guard.js';
import { RateLimiter } from './rate-limiter.js';

/** Counts requests without valid credentials by the address they come from. */
@Injectable()
export class AddressLimiter {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly digester: Digester,
    @Inject(RATE_POLICIES) private readonly policies: RatePolicies,
  ) {}

  /** Counts one more. @returns the refusal for an address that has sent too many, or null */
  async refusal(address: string): Promise<Problem | null> {
    const policy = this.policies.unauthenticated;
    // An address is personal data: the bucket is named by a keyed digest of it.
    const subject = this.digester.digest('rate-address', address).toString('base64url');
    const verdict = await within(ASKED_WITHIN_MS, this.limiter.take(subject, policy));
    return verdict && !verdict.allowed ? rateLimited(policy, verdict) : null;
  }
}
