import { Agent, request as send } from 'node:http';
import { afterAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BEARER_SCOPES } from '#platform/auth/scopes.js';
import { contractFaults, type SeenAnswer } from '../support/api-contract.js';
import { CANARY, hostileRequest, type HostileRequest, type Known } from '../support/hostile-requests.js';
import { askCompanion } from '../support/companion.js';
import { Integrator } from '../support/integrator.js';
import { fixture, sharedStack } from '../support/index.js';
import { again, isSoak, rounds, seedOr } from '../support/rounds.js';
import { thingsOf } from './support/things.js';

const REQUESTS = rounds(300, 50_000);
/** The same seed draws the same requests. */
const SEED = seedOr(20261121);
const AT_ONCE = 8;
/** A request without an answer by then counts as hanging. No route holds one nearly as long. */
const ANSWERED_WITHIN_MS = 20_000;
/** Requests per lot. One list of all would be large. */
const LOT = 2_000;

/** Objects of each kind that a lot may destroy. Each lot gets new ones. */
const THINGS = 6;
/** Credits for the readings of a lot's objects, and for three of its requests to be accepted. */
const CREDITS = THINGS * 60 + 60;

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 0));
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
afterAll(() => agent.destroy());

const knownThings = async (): Promise<Known> => {
  const { eventStoreUrl, dataDir } = stack;
  const { workspaceId } = customer;
  await askCompanion('/credits', { eventStoreUrl, workspaceId, amount: CREDITS, dataDir });
  const bearer = { ...(await customer.bearer(BEARER_SCOPES.join(' '))) };
  // Deletes what is left of the earlier lots.
  const { data } = (await customer.call<{ data: { endpointId: string }[] }>('GET', '/api/v1/webhooks')).body;
  for (const { endpointId } of data) await customer.call('DELETE', `/api/v1/webhooks/${endpointId}`);
  return {
    ids: await Promise.all(Array.from({ length: THINGS }, () => thingsOf(stack, customer))),
    credentials: [{ 'x-api-key': customer.apiKey }, bearer],
  };
};

const answerTo = (request: HostileRequest): Promise<SeenAnswer> =>
  new Promise((resolve, reject) => {
    const { method, target, headers, body } = request;
    const outgoing = send(
      stack.baseUrl,
      { agent, method, path: target, headers: { ...headers, 'content-length': String(body?.length ?? 0) } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.once('error', reject);
        incoming.once('end', () =>
          resolve({
            method,
            target,
            status: incoming.statusCode ?? 0,
            headers: new Headers(
              Object.entries(incoming.headers).map(([name, value]): [string, string] => [
                name,
                String(value),
              ]),
            ),
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    outgoing.setTimeout(ANSWERED_WITHIN_MS, () => outgoing.destroy(new Error('It hangs')));
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      // The server closes connections that are idle for long, as between two lots: the request may not have arrived.
      const wasClosed = outgoing.reusedSocket && error.code === 'ECONNRESET';
      if (wasClosed) answerTo(request).then(resolve, reject);
      else reject(error);
    });
    outgoing.end(body ?? undefined);
  });

const faultsOf = async (request: HostileRequest): Promise<{ status: number; faults: readonly string[] }> => {
  try {
    const answer = await answerTo(request);
    const { status } = answer;
    const faults = [...contractFaults(answer)];
    if (status >= 500) faults.push('the service failed');
    if (status >= 400 && Buffer.from(answer.body).includes(CANARY))
      faults.push('the answer repeats the input');
    if (answer.headers.has('x-injected')) faults.push('a header was injected');
    return { status, faults };
  } catch (error) {
    return { status: 0, faults: [(error as Error).message] };
  }
};

/** An accepted request can stop a consumer. Then everybody waits, though every answer was right. */
const untilAllIsHandled = async (): Promise<void> => {
  const workspace = await Integrator.open(stack, 20);
  await workspace.published();
  await workspace.untilTold(2);
  expect(await stack.ops(['parked', 'list'])).toMatchObject({ stopped: [] });
};

const shown = ({ method, target, headers, body }: HostileRequest): string =>
  [
    `${method} ${target.slice(0, 200)}`,
    JSON.stringify({ ...headers, authorization: headers['authorization']?.slice(0, 12) }).slice(0, 400),
    body?.subarray(0, 200).toString('latin1') ?? '',
  ].join(' ');

it(
  `The API answers ${REQUESTS} hostile requests as documented, repeats no input and never fails (${again('fuzz', REQUESTS, SEED)})`,
  async () => {
    const statuses = new Map<number, number>();
    const faults: string[] = [];
    for (let done = 0; done < REQUESTS && faults.length < 20; done += LOT) {
      const lot = fc.sample(hostileRequest(await knownThings()), {
        seed: SEED + done,
        numRuns: Math.min(LOT, REQUESTS - done),
      });
      const next = lot.values();
      const worker = async (): Promise<void> => {
        for (const request of next) {
          const { status, faults: found } = await faultsOf(request);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (found.length > 0) faults.push(`${status} ${found.join('; ')}: ${shown(request)}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      if (isSoak) {
        const told = {
          requests: done + lot.length,
          faults: faults.length,
          ...Object.fromEntries(statuses),
        };
        process.stderr.write(`${JSON.stringify(told)}\n`);
      }
    }
    expect(faults).toEqual([]);
    // Some requests were accepted, and some refused.
    for (const status of [200, 202, 400, 401, 403, 404, 405, 415])
      expect([...statuses.keys()]).toContain(status);
    await untilAllIsHandled();
  },
  600_000 + REQUESTS * 1_000,
);
