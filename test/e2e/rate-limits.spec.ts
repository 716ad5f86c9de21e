import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { fixture, sharedStack, startApi } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { PortalVisitor, type PortalAnswer } from '../support/portal-visitor.js';

const stack = fixture(sharedStack);
/** An API with limits of its own beside that of the stack: the buckets belong to workspaces and addresses. */
const api = fixture(() =>
  startApi(stack, {
    // Buckets of 50, 5 and 5 tokens, that refill slowly while the test runs; for an address, of 30.
    RATE_READ_PER_MINUTE: '300',
    RATE_CREATE_PER_MINUTE: '15',
    RATE_MANAGE_PER_MINUTE: '10',
    RATE_PUBLIC_PER_MINUTE: '600',
    READINGS_IN_FLIGHT: '3',
  }),
);

const open = async (credits: number) => (await Integrator.open(stack, credits)).at(stack, api.baseUrl);
const credits = (apiKey: string) =>
  fetch(`${api.baseUrl}/api/v1/credits`, { headers: { 'x-api-key': apiKey } });
/** Sends until the answer is 429: a slow machine gets tokens meanwhile, or lets a request pass. @returns all statuses */
const untilRefused = async (send: () => Promise<number>, most = 300): Promise<readonly number[]> => {
  const statuses: number[] = [];
  while (statuses.length < most && statuses.at(-1) !== 429) statuses.push(await send());
  expect(statuses.at(-1)).toBe(429);
  return statuses;
};

it('A workspace receives its remaining allowance; a refusal gives the time to retry and costs nothing', async () => {
  let customer: Integrator;
  let first: Response;
  // On a busy machine, requests pass without the limiter's answer.
  do {
    customer = await open(0);
    first = await credits(customer.apiKey);
  } while (!first.headers.has('ratelimit'));
  expect(first.headers.get('ratelimit-policy')).toBe('"read";q=300;w=60');
  expect(first.headers.get('ratelimit')).toMatch(/^"read";r=49;t=\d+$/);

  const answers = await Promise.all(Array.from({ length: 120 }, () => credits(customer.apiKey)));
  const refused = answers.filter(({ status }) => status === 429);
  // Seventy, unless the limiter on a busy machine fails to answer in time and lets a request pass.
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  expect(refused[0]!.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused[0]!.json()).toMatchObject({ code: 'rate_limited' });
});

it('A workspace has its own limit, which all of its live keys share, and another for its test keys', async () => {
  const [busy, quiet] = [await open(0), await open(0)];
  const keys = [busy.apiKey, (await busy.withKey()).apiKey];
  const answers = await Promise.all(Array.from({ length: 150 }, (_, n) => credits(keys[n % 2]!)));
  // Not 503, though the process does not know the keys yet.
  expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  const isRefused = (key: number) => answers.some(({ status }, n) => n % 2 === key && status === 429);
  expect([isRefused(0), isRefused(1)]).toEqual([true, true]);
  expect((await credits(quiet.apiKey)).status).toBe(200);
  const test = await busy.inTestMode();
  let left: string | null = null;
  await until(
    async () => (left = (await credits(test.apiKey)).headers.get('ratelimit')) !== null,
    'the limiter answers in time',
  );
  expect(left).toMatch(/^"read";r=4\d;/);
});

it('A workspace pays for what its caller may not do, too', async () => {
  const customer = await (await open(0)).withKey('--scopes', 'credits:read');
  const hook = async () => (await customer.call('POST', '/api/v1/webhooks', { body: {} })).status;
  expect((await untilRefused(hook)).slice(0, 5)).toEqual(Array<number>(5).fill(403));
});

it('A workspace pays for what a person does in its portal, where no call of the API is needed, too', async () => {
  const { workspaceId } = await open(0);
  const visitor = new PortalVisitor(api.baseUrl);
  await visitor.enter(await visitor.linkOf(stack, workspaceId));
  const display = { action: 'display', language: 'en', timeZone: 'Europe/Paris' };
  let last: PortalAnswer | undefined;
  const post = async () => (last = await visitor.post('/portal/settings', display)).status;
  expect((await untilRefused(post, 50))[0]).toBe(303);
  expect(last!.text).toContain(TEXTS.en.problems.rate_limited);
  expect(last!.headers.get('retry-after')).toMatch(/^\d+$/);
  expect((await visitor.get('/portal/settings')).status).toBe(200);
});

it('A workspace may not exceed the limits of unfinished readings and of requests per minute', async () => {
  const customer = await open(400);
  process.kill(stack.pids().worker, 'SIGSTOP');
  const answers = [];
  for (let n = 0; n < 4; n += 1) {
    answers.push(await customer.create(person()));
    // Accepted readings count even while no worker writes their rows.
    await delay(400);
  }
  process.kill(stack.pids().worker, 'SIGCONT');
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429]);
  const detail = expect.stringContaining('3 readings');
  expect(answers[3]!.body).toMatchObject({ code: 'rate_limited', detail });
  const policies = answers.flatMap(({ headers }) => headers.get('ratelimit-policy') ?? []);
  expect(new Set(policies)).toEqual(new Set(['"create";q=15;w=60']));
  for (const { body } of answers.slice(0, 3)) await customer.untilEnded(body.readingId);

  // One more, and soon none: a token comes every four seconds. A bad order costs one, too, and nobody waits for it.
  const statuses = await untilRefused(async () => {
    const { status, headers } = await customer.create({});
    if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-4]$/);
    return status;
  }, 50);
  expect(statuses[0]).toBe(400);
});
