import { beforeAll, expect, it } from '@jest/globals';
import { calculateTheme } from '#numerology/index.js';
import { fixture, sharedStack, startReceiver } from '../support/index.js';
import { Integrator, person, until, untilHandled } from '../support/integrator.js';
import { PortalVisitor } from '../support/portal-visitor.js';

/** The product in short, on one embedded stack and through its public doors. The suites e2e and crash have the rest. */

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 100));
const receiver = fixture(startReceiver);
let published: string;
beforeAll(async () => {
  await customer.endpoint(receiver);
});

/** Types of the webhooks about a reading, without that of a slow machine, once the last one is `last`. */
const toldOf = async (readingId: string, last: string): Promise<string[]> => {
  const types = () =>
    receiver.received
      .filter(({ event }) => event.readingId === readingId)
      .map(({ event }) => event.type)
      .filter((type) => type !== 'reading.delayed');
  await until(
    () => types().includes(last),
    () => `webhooks about the reading: ${types().join(', ')}`,
  );
  return types();
};

it('A reading is accepted at once, completed, published in three formats and announced by signed webhooks', async () => {
  const accepted = await customer.create(person('Canari'));
  expect([accepted.status, accepted.body.status]).toEqual([202, 'queued']);
  published = accepted.body.readingId;
  expect(await customer.untilEnded(published)).toMatchObject({ status: 'completed', error: null });
  const path = `/api/v1/readings/${published}`;
  const result = await customer.call<{ numbers: unknown; asOf: string }>('GET', `${path}/result`);
  const { name, dateOfBirth } = person('Canari');
  const theme = calculateTheme({ name, dateOfBirth, subjectGender: 'feminine' }, result.body.asOf);
  expect(result.body.numbers).toEqual(JSON.parse(JSON.stringify(theme.numbers)));
  const starts = { document_v1: '{', markdown: '---', pdf: '%PDF-' };
  for (const [format, start] of Object.entries(starts)) {
    const document = await fetch(`${stack.baseUrl}${path}/document?format=${format}`, {
      headers: { 'x-api-key': customer.apiKey },
    });
    expect([document.status, (await document.text()).slice(0, start.length)]).toEqual([200, start]);
  }
  expect(await toldOf(published, 'reading.published')).toEqual(['reading.completed', 'reading.published']);
  expect(receiver.received.every(({ verified }) => verified)).toBe(true);
  expect(JSON.stringify(receiver.received)).not.toMatch(/Canari|Lefèvre|1990-04-12|feminine/);
});

it('A reading that fails is announced, and gives its credits back', async () => {
  const before = await customer.balanceAtRest();
  expect(before).toMatchObject({ available: 80, held: 0, consumed: 20 });
  let told: Promise<{ body: object }> | undefined;
  receiver.answer = ({ event }) => {
    if (event.type === 'reading.failed') told = customer.call('GET', '/api/v1/credits');
    return { status: 204 };
  };
  const { worker } = stack.pids();
  process.kill(worker, 'SIGSTOP');
  const { body } = await customer.create(person());
  expect(await customer.balance()).toMatchObject({ available: 60, held: 20 });
  // Without its data, which an erasure deletes, nothing can be computed.
  await stack.ops(['erase', body.readingId, '--yes']);
  process.kill(worker, 'SIGCONT');
  expect(await customer.untilEnded(body.readingId)).toMatchObject({ status: 'failed' });
  await toldOf(body.readingId, 'reading.failed');
  // A receiver that checks at once sees the credits released.
  expect((await told!).body).toMatchObject({ available: 80, reserved: 0 });
  expect(await customer.balanceAtRest()).toEqual(before);
});

it('The credit ledger verifies, and agrees with the readings and balances', async () => {
  const of = ['--workspace', customer.workspaceId];
  expect(await stack.ops(['ledger', 'verify', ...of])).toMatchObject({ ok: true });
  await untilHandled(stack);
  expect(await stack.ops(['ledger', 'reconcile', ...of])).toMatchObject({
    ok: true,
    completed: 1,
    captures: 1,
  });
});

it('A projection is rebuilt from the log, row by row as it was', async () => {
  const readings = await customer.call('GET', '/api/v1/readings');
  expect(await stack.ops(['projections', 'replay', 'readings.reading.v1'])).toMatchObject({
    replayed: [{ projection: 'readings.reading.v1', differences: 0, switched: true }],
  });
  expect((await customer.call('GET', '/api/v1/readings')).body).toEqual(readings.body);
});

it('The portal shows the workspace its readings', async () => {
  const visitor = new PortalVisitor(stack.baseUrl);
  const page = await visitor.enter(await visitor.linkOf(stack, customer.workspaceId));
  expect(page.status).toBe(200);
  expect(page.text).toContain(customer.workspaceId);
  expect(page.text).toContain(`/portal/readings/${published}`);
});

it('An erasure leaves neither name nor numbers nor document', async () => {
  const data = `${stack.baseUrl}/api/v1/readings/${published}/personal-data`;
  const headers = await customer.bearer('readings:write');
  expect((await fetch(data, { method: 'DELETE', headers })).status).toBe(204);
  expect(await customer.reading(published)).toMatchObject({
    input: null,
    document: { available: false },
    erasedAt: expect.any(String),
  });
  for (const path of ['result', 'document?format=pdf'])
    expect(await customer.call('GET', `/api/v1/readings/${published}/${path}`)).toMatchObject({
      status: 410,
      body: { code: 'reading_erased' },
    });
});
