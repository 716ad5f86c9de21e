import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Config } from '../../config/settings.js';
import { AddressBuckets } from '../../rate-limit/address-buckets.js';
import { clientAddress } from '../../rate-limit/address.js';
import { ratePolicies, type RatePolicy } from '../../rate-limit/policies.js';
import { rateLimited } from '../../rate-limit/rate-limited.js';
import type { Problem } from '../problem.js';
import { setAdmission } from './admission.js';
import { Connections, type CutReason } from './connections.js';
import { sendProblem } from '../send-problem.js';
import { HeldAnswers } from './held-answers.js';
import { newRequestId } from '../request-id.js';

export type RefusalReason = CutReason | 'rate';

export interface RefusedAtDoor {
  readonly requestId: string;
  /** As `Admission.address`. */
  readonly address: string;
  readonly method: string;
}

/** Asked by load balancers, which must be answered whatever else an address does. */
const PROBES: readonly string[] = ['/healthz', '/readyz'];
/** The only paths whose routes ask for credentials. */
const GUARDED = '/api/';

/**
 * What a request meets before Express does: limits of its connection, and of its address when nothing proves who asks.
 * Decided in memory, without parsing, logging or asking anyone, so that a flood costs as little as it can.
 */
export class FrontDoor {
  /** Requests refused and connections cut off since the start, by reason. */
  readonly refused: Record<RefusalReason, number> = { rate: 0, connections: 0, waiting: 0, unread: 0 };
  /** Called for each request that is refused for its rate before Express sees it: must cost next to nothing. */
  onRefused: (refused: RefusedAtDoor) => void = () => undefined;
  private readonly connections: Connections;
  private readonly held: HeldAnswers;
  private readonly buckets: Readonly<Record<'public' | 'probe', AddressBuckets>>;
  private readonly policies: Readonly<Record<'public' | 'probe', RatePolicy>>;
  private listener: RequestListener = () => undefined;

  constructor(private readonly config: Config) {
    this.connections = new Connections(
      config,
      (request, response) => this.enter(request, response),
      (reason) => (this.refused[reason] += 1),
    );
    this.held = new HeldAnswers(config.HTTP_REFUSAL_HOLD_MS);
    this.policies = ratePolicies(config);
    this.buckets = {
      public: new AddressBuckets(this.policies.public, config.RATE_ADDRESSES),
      probe: new AddressBuckets(this.policies.probe, config.RATE_ADDRESSES),
    };
  }

  /** Lets into `listener` what may enter. */
  guard(server: Server, listener: RequestListener): void {
    this.listener = listener;
    const arrived = (request: IncomingMessage, response: ServerResponse): void =>
      this.connections.arrived(request, response);
    server.on('request', arrived);
    // Node's own answers to these would pass by the limits.
    server.on('checkContinue', arrived);
    server.on('checkExpectation', arrived);
    this.connections.watch(server);
  }

  private enter(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const address = this.addressOf(request);
    let isCharged = false;
    const charge = (): Problem | null => {
      if (isCharged) return null;
      isCharged = true;
      const kind = PROBES.includes(path) ? 'probe' : 'public';
      const seconds = this.buckets[kind].take(address);
      if (seconds === 0) return null;
      this.refused.rate += 1;
      return rateLimited(this.policies[kind], { retryAfterSeconds: seconds });
    };
    const holdBack = (answer: () => void): void => {
      // Who does not wait for its refusals is not to be answered at all.
      if (this.connections.hasWaiting(request.socket)) request.socket.resetAndDestroy();
      else this.held.hold(response, answer);
    };
    const refusal = path.startsWith(GUARDED) && bringsCredentials(request) ? null : charge();
    setAdmission(request, { address, charge, holdBack });
    if (refusal) {
      const requestId = newRequestId();
      this.onRefused({ requestId, address, method: request.method ?? '' });
      holdBack(() => answer(response, refusal, requestId));
      return;
    }
    if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
    this.listener(request, response);
  }

  private addressOf({ socket, headers }: IncomingMessage): string {
    const forwarded = headers['x-forwarded-for'];
    return clientAddress(
      socket.remoteAddress ?? '',
      Array.isArray(forwarded) ? forwarded.join() : forwarded,
      this.config.TRUSTED_PROXIES,
    );
  }
}

/** With the headers that every answer has. */
const answer = (response: ServerResponse, refusal: Problem, requestId: string): void => {
  response.setHeader('X-Request-Id', requestId);
  response.setHeader('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  sendProblem(response, refusal, requestId);
};

/** Whether they are any good is found out later. */
const bringsCredentials = ({ headers }: IncomingMessage): boolean =>
  headers['x-api-key'] !== undefined || headers.authorization !== undefined;
