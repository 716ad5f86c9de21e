import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Integrator, person, until } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { PortalVisitor } from '../support/portal-visitor.js';

/** What a receiver knows of the person, with a control character, in front of 5 MB. */
const ANSWER = `<script>alert(1)</script> Eurydice\u202e is order 4711 ${'x'.repeat(5_000_000)}`;
const receiver = createServer((_, response) => response.writeHead(500).end(ANSWER));

let stack: Stack;
let customer: Integrator;
let readingId: string;
let path: string;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 100);
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  const { body } = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
    body: { url: `http://127.0.0.1:${port}/`, events: ['reading.completed'] },
  });
  ({ readingId } = (await customer.create(person('Eurydice'))).body);
  const list = `/webhooks/${body.endpointId}/deliveries`;
  await until(
    async () => {
      const { data } = (
        await customer.call<{ data: { deliveryId: string; lastAttempt: object | null }[] }>(
          'GET',
          `/api/v1${list}`,
        )
      ).body;
      if (!data[0]?.lastAttempt) return false;
      path = `/portal${list}/${data[0].deliveryId}`;
      return true;
    },
    () => 'the first attempt fails',
  );
});

afterAll(async () => {
  receiver.close();
  await stack?.stop();
});

const answerOn = async (...options: readonly string[]): Promise<string> => {
  const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId, ...options);
  const { status, text } = await visitor.get(path);
  expect(status).toBe(200);
  return text;
};

interface Look {
  readonly route: string;
  readonly actor: string;
  readonly readingId: string | null;
  readonly personal: boolean;
}

/** Records of looks at one delivery, the newest first. */
const looksAtDelivery = async (): Promise<readonly Look[]> => {
  const { records } = (await stack.ops(['audit', '--workspace', customer.workspaceId])) as {
    records: readonly Look[];
  };
  return records.filter(({ route }) => route.endsWith('/deliveries/:deliveryId'));
};

it('shows a receiver’s answer as text, cut, to who may see persons', async () => {
  const text = await answerOn();
  expect(text).toContain('&lt;script>alert(1)&lt;/script> Eurydice\\u202e is order 4711');
  expect(text).not.toContain('<script>alert');
  expect(Buffer.byteLength(text)).toBeLessThan(20_000);
});

it('shows no answer to a session without that scope', async () => {
  expect(await answerOn('--scopes', 'webhooks:read,webhooks:write')).not.toContain('4711');
});

it('records these looks as reads of personal data of the reading, except those without that scope', async () => {
  let looks: readonly Look[] = [];
  await until(
    async () => new Set((looks = await looksAtDelivery()).map(({ personal }) => personal)).size === 2,
    () => `looks of both sessions are recorded: ${JSON.stringify(looks)}`,
  );
  const about = { actor: expect.stringMatching(/^portal:/), readingId };
  expect(looks).toMatchObject([
    { ...about, personal: false },
    { ...about, personal: true },
  ]);
});

it('shows no answer after the person is erased', async () => {
  await stack.ops(['erase', readingId, '--yes']);
  await until(
    async () => !(await answerOn()).includes('4711'),
    () => 'the answer is gone',
  );
});
