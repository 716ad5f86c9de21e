import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, sharedStack, type StartedApi, type Stack } from '../support/index.js';
import { Integrator, until } from '../support/integrator.js';

let stack: Stack;
let second: StartedApi;

beforeAll(async () => {
  stack = await sharedStack();
  second = await startApi(stack);
});

afterAll(async () => {
  await second?.stop();
  await stack?.stop();
});

describe('a hundred concurrent requests on a hundred credits, over two API processes', () => {
  it('give five readings and ninety-five refusals, and the ledger agrees', async () => {
    const here = await Integrator.open(stack, 100);
    const there = here.at({ ...stack, baseUrl: second.baseUrl });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? here : there).create()),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(5);
    expect(statuses.filter((status) => status === 402)).toHaveLength(95);
    const refused = answers.find(({ status }) => status === 402)!;
    expect(refused.body).toMatchObject({ code: 'insufficient_credits', required: 20, available: 0 });

    const accepted = answers.filter(({ status }) => status === 202).map(({ body }) => body.readingId);
    await Promise.all(accepted.map((readingId) => here.untilEnded(readingId)));
    const of = ['--workspace', here.workspaceId];
    // Settlement and view follow the readings a moment later.
    await until(
      async () => (await here.balance()).consumed === 100,
      () => 'the credits are not captured',
    );
    expect(await here.balance()).toMatchObject({ available: 0, held: 0, consumed: 100 });
    expect(await stack.ops(['ledger', 'verify', ...of])).toMatchObject({ ok: true });
    expect(await stack.ops(['ledger', 'reconcile', ...of])).toMatchObject({
      ok: true,
      completed: 5,
      captures: 5,
      differences: [],
    });
  });
});

describe('test readings beside live ones, over two API processes', () => {
  it('leave the live book as it was byte by byte, and are charged once each to the test book', async () => {
    const live = await Integrator.open(stack, 100);
    const here = await live.inTestMode();
    const there = here.at({ ...stack, baseUrl: second.baseUrl });
    const of = ['--workspace', live.workspaceId];
    const ops = (...args: readonly string[]) => stack.ops(['ledger', ...args, ...of]);
    const liveBook = () => stack.ops(['streams', 'show', `credits-${live.workspaceId}`]);

    const { body: first } = await live.create();
    await live.untilEnded(first.readingId);
    await until(
      async () => (await live.balance()).consumed === 20,
      () => 'the live reading is not captured',
    );
    const before = JSON.stringify(await liveBook());
    expect(before).toContain('CreditsCaptured');
    const balance = await live.balance();
    expect((await here.call('GET', '/api/v1/credits')).body).toMatchObject({
      available: 10_000,
      reserved: 0,
    });

    // The first use of the day: the two processes race to open and fill the book.
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? here : there).create()),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    await Promise.all(answers.map(({ body }) => here.untilEnded(body.readingId)));
    await until(
      async () => ((await ops('balance', '--mode', 'test')) as { consumed: number }).consumed === 240,
      () => 'the test readings are not captured',
    );
    const { body: credits } = await here.call('GET', '/api/v1/credits');
    expect(credits).toMatchObject({ available: 9_760, reserved: 0, grants: [{ kind: 'test' }] });
    const { entries } = (await ops('statement', '--mode', 'test')) as { entries: { type: string }[] };
    expect(entries.filter(({ type }) => type === 'CreditsAdjusted')).toHaveLength(1);

    const printed = await stack.runOps(['ledger', 'statement', ...of, '--mode', 'test']);
    expect(printed.stdout).toMatch(/CreditsAdjusted +adjusted -10000, available \+10000 +10000 +0/);
    const pdf = ['ledger', 'statement', ...of, '--mode', 'test', '--period', '2026-01', '--format', 'pdf'];
    expect(await stack.runOps([...pdf, '--out', 'x.pdf'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A test book has no PDF statement'),
    });

    expect(JSON.stringify(await liveBook())).toBe(before);
    expect(await live.balance()).toEqual(balance);
    expect(await ops('verify', '--mode', 'test')).toMatchObject({ ok: true, books: [{ events: 26 }] });
    expect(await ops('verify')).toMatchObject({ ok: true });
    const inTestMode = { ok: true, books: 1, completed: 12, captures: 12, differences: [] };
    expect(await ops('reconcile', '--mode', 'test')).toMatchObject(inTestMode);
    expect(await ops('reconcile')).toMatchObject({ ok: true, books: 1, completed: 1, captures: 1 });
    expect(await stack.ops(['ledger', 'explain', answers[0]!.body.readingId])).toMatchObject({
      outcome: 'completed',
      credits: [
        { type: 'CreditsReserved' },
        { type: 'CreditsCaptured', paidBy: [{ credits: 20, cents: 0 }] },
      ],
      findings: [],
    });
  });
});
