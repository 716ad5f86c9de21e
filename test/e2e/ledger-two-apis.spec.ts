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
