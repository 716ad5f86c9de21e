import type { Request, RequestHandler } from 'express';
import { insiderOf } from '../auth/authentication.js';
import { LocalBuckets, rateLimited, ratePolicies, type RateSettings } from '../rate-limit/rate-limiter.js';
import { clientAddress } from '../rate-limit/address.js';
import { sendProblem, type Problem } from './problem.js';
import { requestIdOf } from './request-id.js';

/** The probes of load balancers. */
const PROBES: readonly string[] = ['/healthz', '/readyz'];
/** Ten a second: balancers probe from several addresses, each once in a few seconds. */
const PROBE_POLICY = { perMinute: 600, burst: 60 };
/** How long the last answer to a probe may be repeated (ms). */
const PROBE_FRESH_MS = 1_000;

interface Admission {
  /** Counts the request on its address, unless that was done. @returns the refusal when there are too many */
  charge(): Problem | null;
  /** Keeps the answer (JSON) to a probe. */
  remember(status: number, body: unknown): void;
}

const admissions = new WeakMap<Request, Admission>();

/** Undefined in tests of a single module. */
export const admissionOf = (request: Request): Admission | undefined => admissions.get(request);

/**
 * Limits the requests of an address that prove nothing about their sender: those without credentials, and outside of
 * `/api/` all. A probe is never refused: a balancer must get an answer even if it shares its address with a flood, so one
 * that asks too often gets the last answer again. Decides in memory.
 */
export const limitAddresses = (config: RateSettings): RequestHandler => {
  const policy = ratePolicies(config).public;
  const buckets = new LocalBuckets(policy);
  const probeBuckets = new LocalBuckets(PROBE_POLICY);
  const probed = new Map<string, { status: number; body: unknown; until: number }>();
  return (request, response, next) => {
    // The portal calls the API for a person whose own request was counted.
    if (insiderOf(request)) return next();
    const { method, path } = request;
    const address = clientAddress(request);
    const isProbe = PROBES.includes(path) && (method === 'GET' || method === 'HEAD');
    let isCharged = isProbe;
    const charge = (): Problem | null => {
      if (isCharged) return null;
      isCharged = true;
      const verdict = buckets.take(address);
      return verdict.allowed ? null : rateLimited(policy, verdict);
    };
    const remember = (status: number, body: unknown): void => {
      if (isProbe) probed.set(path, { status, body, until: performance.now() + PROBE_FRESH_MS });
    };
    admissions.set(request, { charge, remember });
    if (isProbe) {
      const last = probeBuckets.take(address).allowed ? undefined : probed.get(path);
      if (!last || last.until <= performance.now()) return next();
      response.status(last.status).json(last.body);
      return;
    }
    const refusal = isGuarded(path) && bringsCredentials(request) ? null : charge();
    if (refusal) sendProblem(response, refusal, requestIdOf(request));
    else next();
  };
};

/** Whether a path may require credentials: no route outside `/api/` does. */
export const isGuarded = (path: string): boolean => path.startsWith('/api/');

/** Whether the request has credentials; they are verified later. */
const bringsCredentials = ({ headers }: Request): boolean =>
  headers['x-api-key'] !== undefined || headers.authorization !== undefined;
