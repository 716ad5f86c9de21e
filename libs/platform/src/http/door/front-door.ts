import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Config } from '../../config/settings.js';
import { AddressBuckets } from '../../rate-limit/address-buckets.js';
import { clientAddress, forwardedFor } from '../../rate-limit/address.js';
import { ratePolicies, type RatePolicy } from '../../rate-limit/policies.js';
import { rateLimited } from '../../rate-limit/rate-limited.js';
import { isGuarded } from '../guarded-path.js';
import type { Problem } from '../problem.js';
import { setAdmission } from './admission.js';
import { Connections, type CutReason } from './connections.js';
import { sendProblem } from '../send-problem.js';
import { HeldAnswers } from './held-answers.js';
import { newRequestId } from '../request-id.js';
import { Probes, type ProbeAnswer } from './probes.js';

export type RefusalReason = CutReason | 'rate';

export interface RefusedAtDoor {
  readonly requestId: string;
  /** See `Admission.address`. */
  readonly address: string;
  readonly method: string;
}

/**
 * The checks before Express: the limits of the connection, and of the address when the request has no credentials.
 * Decides in memory, without parsing, logging or I/O, so that a flood costs as little as possible.
 */
export class FrontDoor {
  /** Requests refused (429) for their address and connections cut off since the start, by reason. */
  readonly refused: Record<RefusalReason, number> = { rate: 0, connections: 0, waiting: 0, unread: 0 };
  /** Called for each request refused for its rate before Express sees it. It must be very cheap. */
  onRefused: (refused: RefusedAtDoor) => void = () => undefined;
  private readonly connections: Connections;
  private readonly held: HeldAnswers;
  private readonly probes = new Probes();
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

  /** Passes admitted requests to `listener`. */
  guard(server: Server, listener: RequestListener): void {
    this.listener = listener;
    const arrived = (request: IncomingMessage, response: ServerResponse): void =>
      this.connections.arrived(request, response);
    server.on('request', arrived);
    // Node's own answers to these would bypass the limits.
    server.on('checkContinue', arrived);
    server.on('checkExpectation', arrived);
    this.connections.watch(server);
  }

  private enter(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const address = this.addressOf(request);
    const isProbe = this.probes.isProbe(request.method, path);
    let isCharged = isProbe;
    const charge = (): Problem | null => {
      if (isCharged) return null;
      isCharged = true;
      const seconds = this.buckets.public.take(address);
      return seconds === 0 ? null : rateLimited(this.policies.public, { retryAfterSeconds: seconds });
    };
    const holdBack = (answer: () => void): void => {
      this.refused.rate += 1;
      // A proxy's connection also carries the requests of others.
      if (this.config.TRUSTED_PROXIES > 0) answer();
      // Who does not wait for its refusals is not to be answered at all.
      else if (this.connections.hasWaiting(request.socket)) request.socket.resetAndDestroy();
      else this.held.hold(address, response, answer);
    };
    const remember = (status: number, body: string): void => {
      if (isProbe) this.probes.remember(path, { status, body });
    };
    setAdmission(request, { address, charge, holdBack, remember });
    const known = isProbe && this.buckets.probe.take(address) > 0 ? this.probes.recent(path) : null;
    if (known) {
      repeat(response, known);
      return;
    }
    const refusal = isGuarded(path) && bringsCredentials(request) ? null : charge();
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
    return clientAddress(socket.remoteAddress ?? '', forwardedFor(headers), this.config.TRUSTED_PROXIES);
  }
}

const answer = (response: ServerResponse, refusal: Problem, requestId: string): void => {
  setCommonHeaders(response, requestId);
  sendProblem(response, refusal, requestId);
};

const repeat = (response: ServerResponse, { status, body }: ProbeAnswer): void => {
  setCommonHeaders(response, newRequestId());
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(body);
};

/** The headers of every answer. */
const setCommonHeaders = (response: ServerResponse, requestId: string): void => {
  response.setHeader('X-Request-Id', requestId);
  response.setHeader('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
  response.setHeader('X-Content-Type-Options', 'nosniff');
};

/** Whether the request has credentials; they are verified later. */
const bringsCredentials = ({ headers }: IncomingMessage): boolean =>
  headers['x-api-key'] !== undefined || headers.authorization !== undefined;
