import { randomUUID } from 'node:crypto';
import { PortalVisitor } from '../../support/portal-visitor.js';
import { Integrator, person } from '../../support/integrator.js';
import { startApi } from '../../support/start-api.js';
import { RECEIVER_SETTINGS, startReceiver } from '../../support/start-receiver.js';
import { startStack, type StartedStack } from '../../support/start-stack.js';
import { quantile } from '../quantile.js';
import type { Benchmark, Row, Settings } from '../report.js';
import { somebody } from '../service/somebody.js';
import { fillWorkspace } from './full-workspace.js';

const READINGS = 200_000;
const DELIVERIES_OF_A_READING = 5;
/** Readings that are made by the service itself: the newest, which the pages show. */
const REAL = 40;
const LOADS = 60;
const MOST_MS = 150;
/** Beyond the first page of a list. */
const LATER = new Date(Date.now() - 60 * 86_400_000).toISOString().slice(0, 16);

interface Named {
  readonly readingId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly eventId: string;
}

/** Every page, and the lists with filters that find little or nothing. */
const pathsOf = ({
  readingId,
  endpointId,
  deliveryId,
  eventId,
}: Named): Readonly<Record<string, string>> => ({
  overview: '',
  readings: '/readings',
  'readings, of two months ago': `/readings?until=${LATER}`,
  'readings, failed (none)': '/readings?status=failed',
  'readings, under way (none)': '/readings?status=processing',
  'readings, by an id of the customer (none)': '/readings?externalId=order-0',
  'a reading': `/readings/${readingId}`,
  'order a reading': '/readings/new',
  webhooks: '/webhooks',
  'an endpoint with its deliveries': `/webhooks/${endpointId}`,
  'deliveries, failed for good': `/webhooks/${endpointId}?status=exhausted`,
  'deliveries, undelivered': `/webhooks/${endpointId}?status=undelivered`,
  'deliveries, of a type (none)': `/webhooks/${endpointId}?type=reading.failed`,
  'deliveries, of a reading': `/webhooks/${endpointId}?readingId=${readingId}`,
  'deliveries, of an unknown reading': `/webhooks/${endpointId}?readingId=${randomUUID()}`,
  'a delivery': `/webhooks/${endpointId}/deliveries/${deliveryId}`,
  'change an endpoint': `/webhooks/${endpointId}/edit`,
  'a new secret': `/webhooks/${endpointId}/secret`,
  'send again': `/webhooks/${endpointId}/replay`,
  events: '/events',
  'events, of a type (none)': '/events?type=reading.failed',
  notices: '/events?type=notices',
  'an event': `/events/${eventId}`,
  keys: '/keys',
  credits: '/credits',
  'a month’s statement': `/credits/statements/${new Date().toISOString().slice(0, 7)}`,
  settings: '/settings',
});

/** The path of the page behind the last link *older* of lists, some pages on. */
const pagesOn = async (visitor: PortalVisitor, path: string, pages: number): Promise<string> => {
  let current = path;
  for (let page = 0; page < pages; page += 1) {
    const { text } = await load(visitor, current);
    const next = /href="\?([^"]*cursor=[^"]+)"/.exec(text)?.[1];
    if (next === undefined) break;
    current = `${path.split('?')[0]}?${next.replaceAll('&amp;', '&')}`;
  }
  return current;
};

const load = async (visitor: PortalVisitor, path: string) => {
  const answer = await visitor.get(`/portal${path}`);
  if (answer.status !== 200) throw new Error(`/portal${path} answered ${answer.status}.`);
  return answer;
};

const millisecondsOf = async (visitor: PortalVisitor, path: string): Promise<readonly number[]> => {
  const took: number[] = [];
  for (let n = 0; n < LOADS; n += 1) {
    const startedAt = performance.now();
    await load(visitor, path);
    took.push(performance.now() - startedAt);
  }
  return took;
};

const firstLook = async (customer: Integrator): Promise<number> => {
  const startedAt = performance.now();
  await customer.call('GET', '/api/v1/credits');
  return performance.now() - startedAt;
};

const rowOf = (what: string, took: readonly number[]): Row => {
  const [p50, p95] = [quantile(took, 0.5), quantile(took, 0.95)];
  return {
    what,
    measured: `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, slowest ${Math.max(...took).toFixed(0)} ms`,
    floor: '',
    value: p95,
    aim: `p95 ≤ ${MOST_MS} ms`,
    met: p95 <= MOST_MS,
  };
};

const measurePages = async (stack: StartedStack, { count = READINGS, add, say }: Settings): Promise<void> => {
  const customer = await Integrator.open(stack, 100_000_000);
  const receivers = await Promise.all(Array.from({ length: 3 }, () => startReceiver()));
  try {
    const endpoints: string[] = [];
    for (const { url } of receivers) {
      const { body } = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
        body: { url },
      });
      endpoints.push(body.endpointId);
    }
    const made: string[] = [];
    for (let n = 0; n < REAL; n += 1) made.push((await customer.create(somebody(n))).body.readingId);
    for (const readingId of made) await customer.untilEnded(readingId);
    await customer.untilEnded((await customer.create(person())).body.readingId);
    process.kill(stack.pids().worker, 'SIGSTOP');
    say(`  Filling: ${count.toLocaleString('en-US')} readings…`);
    const template = made[0]!;
    const deliveries = count * DELIVERIES_OF_A_READING;
    await fillWorkspace(stack, customer, endpoints, { readings: count, deliveries, template });
    const first = await firstLook(customer);
    const another = await startApi(stack);
    const next = await firstLook(customer.at(stack, another.baseUrl));
    await another.stop();
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const [endpointId] = endpoints as [string];
    const one = (text: string, pattern: RegExp): string => pattern.exec(text)![1]!;
    const paths = pathsOf({
      endpointId,
      readingId: made.at(-1)!,
      deliveryId: one((await load(visitor, `/webhooks/${endpointId}`)).text, /deliveries\/([0-9a-f-]{36})/),
      eventId: one((await load(visitor, '/events')).text, /events\/(evt_[0-9a-f-]{36})/),
    });
    const later = {
      'readings, the tenth page': await pagesOn(visitor, '/readings', 9),
      'deliveries, the tenth page': await pagesOn(visitor, `/webhooks/${endpointId}`, 9),
      'events, the tenth page': await pagesOn(visitor, '/events', 9),
    };
    for (const [what, path] of Object.entries({ ...paths, ...later }))
      add(rowOf(what, await millisecondsOf(visitor, path)));
    const looks = {
      'the first look at the credits, after that many readings in the open month': first,
      'the same in the next process that starts': next,
    };
    for (const [what, took] of Object.entries(looks))
      add({ what, measured: `${took.toFixed(0)} ms`, floor: '', value: took, aim: '', met: null });
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  }
};

/** How long the portal's pages take in a large workspace. */
export const portalBenchmark: Benchmark = {
  name: 'portal',
  title: 'The portal',
  explanation: `Pages of one workspace with ${READINGS} readings, or as many as \`--count\` says. It has twice as many events, and
${DELIVERIES_OF_A_READING} times as many deliveries over 90 days at three endpoints. All readings are booked in the open month. Each page
${LOADS} times, one request at a time, as a session that may see everything. The worker is paused.`,
  async run(settings) {
    const stack = await startStack({ env: { LOG_LEVEL: 'warn', ...RECEIVER_SETTINGS } });
    try {
      await measurePages(stack, settings);
    } finally {
      process.kill(stack.pids().worker, 'SIGCONT');
      await stack.killAll();
      await stack.stop();
    }
  },
};
