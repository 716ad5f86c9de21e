import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person } from '../support/integrator.js';
import { startApi, startStack, type StartedApi, type StartedStack } from '../support/index.js';

const OTHER_KEY = { DIGEST_KEY: Buffer.alloc(32, 9).toString('base64') };

let stack: StartedStack;
let customer: Integrator;
const started: StartedApi[] = [];

beforeAll(async () => {
  stack = await startStack();
  customer = await Integrator.open(stack, 1_000);
});
afterAll(async () => {
  await Promise.all(started.map((api) => api.stop()));
  await stack?.stop();
});

/** One more API on the same stores, with the wrong or the right key. */
const api = async (settings = {}): Promise<string> => {
  const one = await startApi(stack, settings);
  started.push(one);
  return one.baseUrl;
};
const repeat = (baseUrl: string) =>
  customer.at(stack, baseUrl).create(person(), { 'idempotency-key': 'order-1' });
const ops = (args: readonly string[], settings: Record<string, string> = {}) =>
  stack.runOps([...args, '--json'], settings);

describe('A process with another DIGEST_KEY', () => {
  it('makes no second reading of a repeated request: it answers 503, and says why', async () => {
    const first = await repeat(stack.baseUrl);
    expect(first.status).toBe(202);

    const wrong = await api(OTHER_KEY);
    expect((await repeat(wrong)).status).toBe(503);
    const ready = await fetch(`${wrong}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ causes: { postgres: 'other_installation' } });

    const again = await repeat(await api());
    expect(again).toMatchObject({ status: 202, body: { readingId: first.body.readingId } });
  });

  it('is named by doctor, and no command works with it', async () => {
    const doctor = await ops(['doctor'], OTHER_KEY);
    expect(doctor.code).toBe(1);
    const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; cause?: string }[] };
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'postgres', cause: 'other_installation' }),
    );

    const list = await ops(['workspace', 'list'], OTHER_KEY);
    expect(list.code).not.toBe(0);
    expect(list.stderr).toContain('DIGEST_KEY');
  });

  it('works once an operator has adopted its key, and the former is refused then', async () => {
    const same = await ops(['keys', 'adopt-digest-key', '--yes']);
    expect(JSON.parse(same.stdout)).toMatchObject({ isSame: true, done: false });

    const shown = await ops(['keys', 'adopt-digest-key'], OTHER_KEY);
    expect(JSON.parse(shown.stdout)).toMatchObject({ isSame: false, done: false });
    expect((await ops(['workspace', 'list'], OTHER_KEY)).code).not.toBe(0);

    const adopted = await ops(['keys', 'adopt-digest-key', '--yes'], OTHER_KEY);
    expect(JSON.parse(adopted.stdout)).toMatchObject({ isSame: false, done: true });
    expect((await ops(['workspace', 'list'], OTHER_KEY)).code).toBe(0);
    expect((await ops(['workspace', 'list'])).code).not.toBe(0);
  });
});
