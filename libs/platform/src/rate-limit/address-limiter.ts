import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Digester } from '../crypto/digest.js';
import type { Problem } from '../http/problem.js';
import { clientAddress } from './address.js';
import { rateLimited, type RatePolicies } from './policies.js';
import { RATE_POLICIES } from './rate-limit.guard.js';
import { RateLimiter } from './rate-limiter.js';

/** Counts requests without valid credentials by address. */
@Injectable()
export class AddressLimiter {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly digester: Digester,
    @Inject(RATE_POLICIES) private readonly policies: RatePolicies,
  ) {}

  /** Counts one more request. @returns the refusal for an address that has sent too many, or null */
  async refusal(request: Request): Promise<Problem | null> {
    const { unauthenticated } = this.policies;
    // An address is personal data, so a keyed digest of it names the bucket.
    const subject = this.digester.digest('rate-address', clientAddress(request)).toString('base64url');
    const verdict = await this.limiter.judge(subject, unauthenticated);
    return verdict && !verdict.allowed ? rateLimited(unauthenticated, verdict) : null;
  }
}
