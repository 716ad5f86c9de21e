import type { StoreConnection } from '#event-sourcing/store/event-store.js';
import { observeContract, assertObserved } from '../../../support/observe-contract.js';
import { Integrator, until, untilServed } from '../../../support/integrator.js';
import { RECEIVER_SETTINGS, startReceiver, type Receiver, type Stack } from '../../../support/index.js';
import { listenOnce } from '../../../../apps/embedded/src/event-store-process.js';
import { namedConsumers } from '../../../support/named-consumers.js';
import { startStores, type StartedProcess, type StartedStores } from '../../../support/start-processes.js';
import type { Aftermath } from '../nothing-lost.js';
import { startLink, type Link } from './link.js';

type OpenCalls = ReturnType<StoreConnection['openCalls']>;

const APIS = ['api0', 'api1'] as const;
const WORKERS = ['worker0', 'worker1'] as const;
type ProcessName = (typeof APIS)[number] | (typeof WORKERS)[number];
const PROCESSES: readonly ProcessName[] = [...APIS, ...WORKERS];

/** Far more than a run can spend. */
const CREDITS = 1_000_000;
const AT_REST_WITHIN_MS = 600_000;
/** Every worker runs as many consumers. */
const CONSUMERS = namedConsumers.length;

/** Limits that a storm of seconds reaches, and leases that end soon after. */
const IMPATIENT = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'info',
  DATABASE_QUERY_TIMEOUT_MS: '2000',
  ENQUEUE_TIMEOUT_MS: '2500',
  READING_LEASE_MS: '3000',
  RESERVATION_FENCE_MS: '8000',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '1500',
  // Enough attempts for the longest storm.
  WEBHOOK_RETRY_SCHEDULE_MS: ['0,500,1000', ...Array.from({ length: 60 }, () => '2000')].join(),
  RATE_CREATE_PER_MINUTE: '1000000',
  RATE_READ_PER_MINUTE: '1000000',
  RATE_PUBLIC_PER_MINUTE: '1000000',
} as const;

/** Two APIs and two workers, with a link on each of their arrows, and one customer with a webhook endpoint. */
export class StormyService {
  /** By its two ends, such as `api0→event-store`. */
  readonly links = new Map<string, Link>();
  readonly processes = new Map<ProcessName, StartedProcess>();
  private readonly metrics = new Map<ProcessName, number>();
  /** Open subscriptions before the first storm: one for each consumer of a worker. */
  private readonly subscriptions = new Map<ProcessName, number>();
  /** The customer, as a caller of each API. */
  callers: readonly Integrator[] = [];
  private endpointId = '';

  private constructor(
    readonly stores: StartedStores,
    readonly receiver: Receiver,
  ) {}

  /** @param dataDir where the stores keep their data; default: a temporary folder */
  static async start(
    settings: Readonly<Record<string, string>> = {},
    dataDir?: string,
  ): Promise<StormyService> {
    const stores = await startStores({ ...IMPATIENT, ...settings }, { dataDir });
    const service = new StormyService(stores, await startReceiver());
    await Promise.all(PROCESSES.map((name) => service.startProcess(name)));
    await service.openCustomer();
    return service;
  }

  get aftermath(): Omit<Aftermath, 'accepted'> {
    const { stores, receiver, callers } = this;
    return { stack: stores, customer: callers[0]!, receiver, credits: CREDITS };
  }

  /** Ids of the processes that a storm may pause. PostgreSQL's children are not among them. */
  pids(): Readonly<Record<string, number>> {
    const own = [...this.processes].map(([name, { pid }]) => [name, pid] as const);
    return { ...this.stores.pids(), ...Object.fromEntries(own) };
  }

  /** The processes that have ended, and how. None ever should. */
  ended(): readonly string[] {
    return [...this.processes].flatMap(([name, process]) => {
      const how = process.ended();
      return how === null ? [] : [`${name} ended: ${how}`];
    });
  }

  /** Has the endpoint tried at once, as a customer does whose receiver is back. Otherwise it may wait five minutes. */
  async probeEndpoint(): Promise<void> {
    const path = `/api/v1/webhooks/${this.endpointId}/test`;
    const body = { type: 'reading.completed' };
    await untilServed(() => this.callers[0]!.call('POST', path, { body }));
  }

  /** Waits until each process reads nothing, and has its subscriptions and one call for appends, as before. */
  async untilAtRest(): Promise<void> {
    let busy: readonly string[] = [];
    await until(
      async () => {
        const now = await Promise.all(
          PROCESSES.map(async (name) => [name, await this.openCalls(name)] as const),
        );
        busy = now.flatMap(([name, { read, append, subscription }]) => {
          const before = this.subscriptions.get(name);
          const isAtRest = read === 0 && append <= 1 && subscription === before;
          return isAtRest
            ? []
            : [`${name}: ${read} reads, ${append} appends, ${subscription} of ${before} subscriptions`];
        });
        return busy.length === 0;
      },
      () => `open calls return to their number at rest: ${busy.join('; ')}`,
      AT_REST_WITHIN_MS,
    );
  }

  /** Stops everything. @returns how each process ended: exit code 0 is right */
  async stop(): Promise<ReadonlyMap<ProcessName, number | null>> {
    const codes = new Map<ProcessName, number | null>();
    await Promise.all([...this.processes].map(async ([name, one]) => codes.set(name, await one.stop())));
    await Promise.all([...this.links.values()].map((link) => link.stop()));
    await this.receiver.stop();
    await this.stores.stop();
    await assertObserved();
    return codes;
  }

  private async startProcess(name: ProcessName): Promise<void> {
    const { environment } = this.stores;
    const metricsPort = await listenOnce(0, '127.0.0.1');
    const process = await this.stores.start(name.startsWith('api') ? 'api' : 'worker', {
      EVENTSTORE_URL: await this.linkToEventStore(name, environment['EVENTSTORE_URL']!),
      DATABASE_URL: await this.linkToPostgres(name, environment['DATABASE_URL']!),
      METRICS_PORT: String(metricsPort),
    });
    this.processes.set(name, process);
    this.metrics.set(name, metricsPort);
    if (process.baseUrl) observeContract(process.baseUrl);
  }

  private async linkToEventStore(name: ProcessName, url: string): Promise<string> {
    const { host, hostname, port } = new URL(url.replace(/^esdb:/, 'http:'));
    const link = await startLink(Number(port));
    this.links.set(`${name}→event-store`, link);
    return url.replace(host, `${hostname}:${link.port}`);
  }

  private async linkToPostgres(name: ProcessName, text: string): Promise<string> {
    const url = new URL(text);
    const link = await startLink(`${url.searchParams.get('host')}/.s.PGSQL.${url.port || 5432}`);
    this.links.set(`${name}→postgres`, link);
    url.search = '';
    url.hostname = '127.0.0.1';
    url.port = String(link.port);
    return url.href;
  }

  private async openCustomer(): Promise<void> {
    const { stores, receiver } = this;
    const at = (name: ProcessName) =>
      ({ ...stores, baseUrl: this.processes.get(name)!.baseUrl }) as unknown as Stack;
    const customer = await Integrator.open(at('api0'), CREDITS);
    this.callers = APIS.map((api) => customer.at(at(api)));
    const url = new URL(receiver.url);
    const link = await startLink(Number(url.port));
    this.links.set('workers→receiver', link);
    url.port = String(link.port);
    const { body } = await untilServed(() =>
      customer.call<{ signingSecret: string; endpointId: string }>('POST', '/api/v1/webhooks', {
        body: { url: url.href },
      }),
    );
    receiver.secret = body.signingSecret;
    this.endpointId = body.endpointId;
    await this.noteSubscriptions();
  }

  /** On a busy machine the consumers of a process begin seconds apart. */
  private async noteSubscriptions(): Promise<void> {
    await until(
      async () => {
        for (const name of PROCESSES) this.subscriptions.set(name, (await this.openCalls(name)).subscription);
        return WORKERS.every((name) => this.subscriptions.get(name) === CONSUMERS);
      },
      () =>
        `each of ${CONSUMERS} consumers of both workers has its subscription: ${WORKERS.map((name) => this.subscriptions.get(name)).join(', ')}`,
    );
  }

  private async openCalls(name: ProcessName): Promise<OpenCalls> {
    const answer = await fetch(`http://127.0.0.1:${this.metrics.get(name)}/metrics`);
    const text = await answer.text();
    const of = (kind: string): number =>
      Number(
        new RegExp(`^event_store_open_calls\\{[^}]*kind="${kind}"[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1],
      );
    return { read: of('read'), append: of('append'), subscription: of('subscription') };
  }
}
