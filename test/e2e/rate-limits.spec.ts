import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Integrator, person, until } from '../support/integrator.js';
import { PortalVisitor } from '../support/portal-visitor.js';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { startStack, type StartedStack } from '../support/index.js';

let stack: StartedStack;

beforeAll(async () => {
  stack = await startStack({
    env: {
      // Buckets of 50, 5 and 5 tokens, that refill slowly while the test runs; for an address, of 30.
      RATE_READ_PER_MINUTE: '300',
      RATE_CREATE_PER_MINUTE: '15',
      RATE_MANAGE_PER_MINUTE: '10',
      RATE_PUBLIC_PER_MINUTE: '600',
      READINGS_IN_FLIGHT: '3',
    },
  });
});

afterAll(async () => {
  await stack?.stop();
});

const credits = (apiKey: string) =>
  fetch(`${stack.baseUrl}/api/v1/credits`, { headers: { 'x-api-key': apiKey } });

/** A new customer, and the limiter's answer to its first request: on a busy machine, requests pass without one. */
const newcomer = async (): Promise<{ readonly customer: Integrator; readonly first: Response }> => {
  for (;;) {
    const customer = await Integrator.open(stack, 400);
    const first = await credits(customer.apiKey);
    if (first.headers.has('ratelimit')) return { customer, first };
  }
};

describe('A workspace', () => {
  it('receives its remaining allowance; a refusal gives the time to retry and costs nothing', async () => {
    const { customer, first } = await newcomer();
    expect(first.headers.get('ratelimit-policy')).toBe('"read";q=300;w=60');
    expect(first.headers.get('ratelimit')).toMatch(/^"read";r=49;t=\d+$/);

    const answers = await Promise.all(Array.from({ length: 120 }, () => credits(customer.apiKey)));
    const refused = answers.filter(({ status }) => status === 429);
    // Seventy, unless the limiter on a busy machine fails to answer in time and lets a request pass.
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
    const one = refused[0]!;
    expect(one.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(((await one.json()) as { code: string }).code).toBe('rate_limited');
  });

  it('has its own limit, which all of its live keys share, and another for its test keys', async () => {
    const [busy, quiet] = await Promise.all([Integrator.open(stack, 0), Integrator.open(stack, 0)]);
    const { apiKey } = (await stack.ops(['key', 'issue', '--workspace', busy.workspaceId])) as {
      apiKey: string;
    };
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, n) => credits(n % 2 === 0 ? busy.apiKey : apiKey)),
    );
    const refused = (key: number): number =>
      answers.filter(({ status }, n) => n % 2 === key && status === 429).length;
    expect([refused(0) > 0, refused(1) > 0]).toEqual([true, true]);
    expect((await credits(quiet.apiKey)).status).toBe(200);
    const test = await busy.inTestMode();
    let left: string | null = null;
    await until(
      async () => (left = (await credits(test.apiKey)).headers.get('ratelimit')) !== null,
      () => 'the limiter answers in time',
    );
    expect(left).toMatch(/^"read";r=4\d;/);
  });

  it('pays for what its caller may not do, too', async () => {
    const customer = await (await Integrator.open(stack, 0)).withKey('--scopes', 'credits:read');
    const statuses: number[] = [];
    for (let n = 0; n < 100 && statuses.at(-1) !== 429; n += 1)
      statuses.push((await customer.call('POST', '/api/v1/webhooks', { body: {} })).status);
    expect(statuses.slice(0, 5)).toEqual(Array<number>(5).fill(403));
    expect(statuses.at(-1)).toBe(429);
  });

  it('pays for what a person does in its portal, where no call of the API is needed, too', async () => {
    const { workspaceId } = await Integrator.open(stack, 0);
    const visitor = await PortalVisitor.signedIn(stack, workspaceId);
    const display = { action: 'display', language: 'en', timeZone: 'Europe/Paris' };
    let answer = await visitor.post('/portal/settings', display);
    expect(answer.status).toBe(303);
    for (let n = 0; n < 50 && answer.status === 303; n += 1)
      answer = await visitor.post('/portal/settings', display);
    expect([answer.status, answer.text.includes(TEXTS.en.problems.rate_limited)]).toEqual([429, true]);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await visitor.get('/portal/settings')).status).toBe(200);
  });

  it('may not exceed the limits of unfinished readings and of requests per minute', async () => {
    const customer = await Integrator.open(stack, 400);
    process.kill(stack.pids().worker, 'SIGSTOP');
    const answers = [];
    for (let n = 0; n < 4; n += 1) {
      answers.push(await customer.create(person()));
      // Accepted readings count even while no worker writes their rows.
      await delay(400);
    }
    process.kill(stack.pids().worker, 'SIGCONT');
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429]);
    const [, , , refused] = answers;
    expect(refused?.body).toMatchObject({
      code: 'rate_limited',
      detail: expect.stringContaining('3 readings'),
    });
    const policies = answers.flatMap(({ headers }) => headers.get('ratelimit-policy') ?? []);
    expect(new Set(policies)).toEqual(new Set(['"create";q=15;w=60']));
    for (const { body } of answers.slice(0, 3)) await customer.untilEnded(body.readingId);

    const more = [await customer.create(person())];
    // Soon one is refused: a token comes every four seconds, and on a slow machine the limiter lets a request pass.
    while (more.length < 15 && more.at(-1)!.status === 202) {
      await customer.untilEnded(more.at(-1)!.body.readingId);
      more.push(await customer.create(person()));
    }
    expect([more[0]!.status, more.at(-1)!.status]).toEqual([202, 429]);
    expect(more.at(-1)!.headers.get('retry-after')).toMatch(/^[1-4]$/);
  });
});

it('A bulk pays for each of its readings, also when it is refused', async () => {
  const customer = await Integrator.open(stack, 0);
  const order = () =>
    customer.call('POST', '/api/v1/readings/bulk', {
      body: { mode: 'all', readings: Array.from({ length: 3 }, () => ({})) },
    });
  let answer = await order();
  let refused = 0;
  for (; refused < 20 && answer.status === 400; refused += 1) answer = await order();
  expect(answer.status).toBe(429);
  // Two of three empty a bucket of five. A slow machine lets a request pass.
  expect(refused).toBeLessThan(5);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]$/);
});

describe('A repeated bulk', () => {
  it('is answered although its own readings fill the limits, and counts as often', async () => {
    const customer = await Integrator.open(stack, 400);
    process.kill(stack.pids().worker, 'SIGSTOP');
    const order = () =>
      customer.call<{ batchId: string; accepted: number }>('POST', '/api/v1/readings/bulk', {
        body: { mode: 'all', readings: [person(), person(), person()] },
        headers: { 'idempotency-key': 'repeated' },
      });
    const answers = [await order(), await order()];
    process.kill(stack.pids().worker, 'SIGCONT');
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(answers.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    // The two took six tokens of five. A slow machine gets another one meanwhile, or lets a request pass.
    await until(
      async () => (await order()).status === 429,
      () => 'the tokens are used up',
    );
  });
});

describe('An address', () => {
  it('that sends 30 wrong keys in a minute gets 429; valid keys from it still work', async () => {
    const customer = await Integrator.open(stack, 0);
    const statuses: number[] = [];
    // A slow machine sends while the allowance refills, so it takes a few more.
    for (let n = 0; n < 300 && statuses.at(-1) !== 429; n += 1)
      statuses.push((await credits('wrong')).status);
    expect(statuses.slice(0, 30)).toEqual(Array<number>(30).fill(401));
    expect(statuses.at(-1)).toBe(429);
    expect((await credits(customer.apiKey)).status).toBe(200);
  });

  it('that tries links which nobody made is limited alike; links that somebody made still work', async () => {
    const customer = await Integrator.open(stack, 20);
    const { readingId } = (await customer.create(person())).body;
    await customer.untilEnded(readingId);
    const links = `/api/v1/readings/${readingId}/document/links`;
    const made = await customer.call<{ url: string }>('POST', links, { body: { format: 'markdown' } });
    const statuses: number[] = [];
    for (let n = 0; n < 300 && statuses.at(-1) !== 429; n += 1)
      statuses.push((await fetch(`${stack.baseUrl}/d/${randomBytes(30).toString('base64url')}`)).status);
    expect([404, 429]).toContain(statuses[0]);
    expect(statuses.at(-1)).toBe(429);
    expect((await fetch(made.body.url)).status).toBe(200);
  });
});
