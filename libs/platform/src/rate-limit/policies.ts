import type { Config } from '../config/settings.js';

/** A token bucket: `perMinute` tokens flow in evenly; `burst` is its capacity. */
export interface RatePolicy {
  readonly name: 'read' | 'create' | 'manage' | 'unauthenticated' | 'public';
  readonly perMinute: number;
  readonly burst: number;
}

export type RatePolicies = Readonly<Record<RatePolicy['name'], RatePolicy>>;

export type RateSettings = Pick<
  Config,
  | 'RATE_READ_PER_MINUTE'
  | 'RATE_READ_BURST'
  | 'RATE_CREATE_PER_MINUTE'
  | 'RATE_CREATE_BURST'
  | 'RATE_MANAGE_PER_MINUTE'
  | 'RATE_MANAGE_BURST'
  | 'RATE_UNAUTHENTICATED_PER_MINUTE'
  | 'RATE_PUBLIC_PER_MINUTE'
>;

export const ratePolicies = (settings: RateSettings): RatePolicies => ({
  read: { name: 'read', perMinute: settings.RATE_READ_PER_MINUTE, burst: settings.RATE_READ_BURST },
  create: { name: 'create', perMinute: settings.RATE_CREATE_PER_MINUTE, burst: settings.RATE_CREATE_BURST },
  manage: { name: 'manage', perMinute: settings.RATE_MANAGE_PER_MINUTE, burst: settings.RATE_MANAGE_BURST },
  unauthenticated: {
    name: 'unauthenticated',
    perMinute: settings.RATE_UNAUTHENTICATED_PER_MINUTE,
    burst: settings.RATE_UNAUTHENTICATED_PER_MINUTE,
  },
  public: {
    name: 'public',
    perMinute: settings.RATE_PUBLIC_PER_MINUTE,
    // A page of the documentation takes some ten requests.
    burst: Math.ceil(settings.RATE_PUBLIC_PER_MINUTE / 10),
  },
});
