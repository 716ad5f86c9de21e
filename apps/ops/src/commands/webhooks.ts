import { InvalidArgumentError, Option, type Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { instant } from '#event-sourcing/core/clock.js';
import {
  EnableWebhookEndpoint,
  ExportDeliveries,
  FindAnsweredDelivery,
  FindVerification,
  GetReplay,
  ListWebhookEndpoints,
  PUBLIC_EVENT_TYPES,
  REPLAYABLE_STATUSES,
  ReplayEvents,
  type EndpointHealth,
  type PublicEventType,
  type ReplayableStatus,
  type ReplayRecord,
  type VerificationRecord,
  type WebhookRefusal,
} from '#webhooks/contracts/index.js';
import { writeNewFile } from '../new-file.js';
import { OpsError, print, tableOf } from '../output.js';
import { withSession, withWorkspace, type Session } from '../session.js';
import { example, parseInstant, parseUuid, someText, wholeFrom } from './options.js';

/** The operator's commands for webhooks: find failing endpoints, enable them, replay what they missed, keep old deliveries. */
const addWebhooksCommands = (webhooks: Command): void => {
  webhooks
    .command('list')
    .description('webhook endpoints and their state, longest waiting first')
    .option('--workspace <id>', 'of one workspace')
    .addOption(new Option('--state <state>', 'in one state').choices(STATES))
    .addHelpText('after', example('webhooks list --workspace ws_… --json'))
    .action(async ({ workspace, state }: { workspace?: string; state?: string }, command: Command) => {
      const all = await withWorkspace(workspace ?? null, ({ queries }) =>
        queries.execute(new ListWebhookEndpoints(workspace ?? null)),
      );
      const endpoints = all.filter(({ endpoint }) => state === undefined || endpoint.health.state === state);
      const text = tableOf(endpoints, {
        endpoint: ({ endpoint }) => endpoint.endpointId,
        workspace: 'workspaceId',
        state: ({ endpoint }) => endpoint.health.state,
        pending: 'pending',
        'due for s': 'queueAgeSeconds',
        url: ({ endpoint }) => endpoint.url,
      });
      print(command, { endpoints }, text);
    });

  webhooks
    .command('health')
    .description('queue age, attempts of the last 24 hours by outcome, failing and disabled endpoints')
    .option('--endpoint <id>', 'of one endpoint, and what its probes found')
    .option('--max-queue-age <seconds>', 'exit with 1 when a delivery has been due for longer', wholeFrom(0))
    .addHelpText('after', example('webhooks health --max-queue-age 60   # for a monitor'))
    .action(async (options: { endpoint?: string; maxQueueAge?: number }, command: Command) => {
      const { endpoint, maxQueueAge } = options;
      const health = await withSession(async (session) => {
        if (endpoint === undefined)
          return summary(await session.queries.execute(new ListWebhookEndpoints(null)));
        const found = await requireEndpoint(session, endpoint);
        const verification = await session.queries.execute(new FindVerification(endpoint));
        return { ...summary([found]), verification };
      });
      const isLate = maxQueueAge !== undefined && health.queueAgeSeconds > maxQueueAge;
      const probes = 'verification' in health && health.verification;
      print(
        command,
        health,
        [...describeHealth(health), ...(probes ? [describeProbes(probes)] : [])],
        isLate,
      );
    });
  webhooks
    .command('delivery')
    .description('a delivery with its attempts, and what the receiver answered to failed ones')
    .requiredOption('--delivery <id>', 'the delivery', parseUuid)
    .addHelpText('after', example('webhooks delivery --delivery 7f9c24e8-…'))
    .action(async ({ delivery }: { delivery: string }, command: Command) => {
      const found = await withSession(({ queries }) => queries.execute(new FindAnsweredDelivery(delivery)));
      if (!found)
        throw new OpsError(
          `There is no delivery ${delivery}. It may be deleted: ops retention status shows what is kept.`,
        );
      const { deliveryId, endpointId, eventId, eventType, status, settledAt, history } = found;
      const text = [
        `Delivery ${deliveryId} of ${eventType} (${eventId}) to ${endpointId}: ${status}${settledAt === null ? '' : ` at ${settledAt}`}`,
        '',
        tableOf(history, {
          attempt: 'number',
          at: 'startedAt',
          ms: 'durationMs',
          status: 'statusCode',
          result: ({ error }) => error ?? 'succeeded',
          answer: 'answer',
        }),
      ];
      print(command, found, text);
    });

  webhooks
    .command('replay')
    .description('send past events to an endpoint, in order; without --yes, only count them')
    .requiredOption('--endpoint <id>', 'the endpoint')
    .requiredOption('--since <instant>', 'events at this time or later', parseInstant)
    .option('--until <instant>', 'events before this time; default: now', parseInstant)
    .option('--types <types>', 'comma-separated; default: as it subscribes', choiceOf(PUBLIC_EVENT_TYPES))
    .option('--statuses <statuses>', 'default: missing,skipped,exhausted', choiceOf(REPLAYABLE_STATUSES))
    .option('--yes', 'send them')
    .option('--wait <seconds>', 'how long to wait for a worker', wholeFrom(1, 999_999), WAIT_SECONDS)
    .addHelpText('after', example('webhooks replay --endpoint we_… --since 2026-04-01 --yes'))
    .action(async (options: ReplayOptions, command: Command) => {
      const replay = await withSession((session) => run(session, options));
      const { dryRun, events, state } = replay;
      if (state === 'stopped')
        throw new OpsError('The replay stopped: someone stopped it, or the endpoint was disabled.');
      const text = dryRun
        ? `${events} events would be sent: add --yes to send them`
        : `${events} events are being sent`;
      print(command, replay, text);
    });

  webhooks
    .command('enable')
    .description('enable an endpoint and reset its failures; does not send what it missed')
    .requiredOption('--endpoint <id>', 'the endpoint')
    .addHelpText('after', example('webhooks enable --endpoint we_…'))
    .action(async ({ endpoint: endpointId }: { endpoint: string }, command: Command) => {
      const answer = await withSession(async (session) => {
        const { workspaceId } = await requireEndpoint(session, endpointId);
        return session.commands.execute(new EnableWebhookEndpoint(endpointId, workspaceId, session.by()));
      });
      if (answer.outcome !== 'changed') throw refusedBecause(answer);
      const { record, skippedDeliveries } = answer;
      const text =
        skippedDeliveries === null
          ? 'Already enabled'
          : `Enabled; ${skippedDeliveries} deliveries were skipped in the meantime: ops webhooks replay sends them.`;
      print(command, { endpoint: record, skippedDeliveries }, text);
    });

  webhooks
    .command('export')
    .description('settled deliveries with their attempts, before retention drops them; a JSON object a line')
    .requiredOption('--until <instant>', 'settled before this time', parseInstant)
    .requiredOption('--out <file>', 'write to this new file, readable only by you', someText)
    .addHelpText('after', example('webhooks export --until 2026-06-01 --out until-june.jsonl'))
    .action(async ({ until, out }: { until: number; out: string }, command: Command) => {
      const deliveries = await writeNewFile(out, (write) =>
        withSession(({ queries }) => queries.execute(new ExportDeliveries(instant(until), write))),
      );
      print(command, { out, deliveries }, `Wrote ${deliveries} deliveries to ${out}.`);
    });
};

/** @throws OpsError when there is no such endpoint */
const requireEndpoint = async ({ queries }: Session, endpointId: string): Promise<EndpointHealth> => {
  const [found] = await queries.execute(new ListWebhookEndpoints(null, endpointId));
  if (!found) throw new OpsError(`There is no webhook endpoint ${endpointId}: ops webhooks list shows them.`);
  return found;
};

/** A refusal in one line. */
const refusedBecause = (refusal: WebhookRefusal): OpsError => {
  switch (refusal.outcome) {
    case 'endpoint_disabled':
      return new OpsError('The endpoint is disabled: enable it first.');
    case 'replay_in_progress':
      return new OpsError(`The replay ${refusal.replayId} of the endpoint is still running.`);
    case 'no_longer_kept':
      return new OpsError(
        `Events from before ${refusal.keptSince} are deleted: use this instant or a later one.`,
      );
    case 'webhook_not_found':
      return new OpsError('There is no such webhook endpoint any more.');
    default:
      return new OpsError(`Refused: ${refusal.outcome}.`);
  }
};

const STATES = ['ok', 'failing', 'disabled', 'unverified'] as const;

const summary = (all: readonly EndpointHealth[]) => {
  const attempts: Record<string, number> = {};
  for (const { attempts: own } of all)
    for (const [ended, count] of Object.entries(own)) attempts[ended] = (attempts[ended] ?? 0) + count;
  return {
    endpoints: Object.fromEntries(
      STATES.map((state) => [state, all.filter(({ endpoint }) => endpoint.health.state === state).length]),
    ),
    pending: all.reduce((sum, { pending }) => sum + pending, 0),
    queueAgeSeconds: Math.max(0, ...all.map(({ queueAgeSeconds }) => queueAgeSeconds)),
    /** Of the last 24 hours. */
    attempts,
    troubled: all.filter(({ endpoint }) => endpoint.health.state !== 'ok'),
  };
};

const describeHealth = (health: ReturnType<typeof summary>): readonly string[] => {
  const { endpoints, pending, queueAgeSeconds, attempts, troubled } = health;
  const counts = Object.entries(attempts).map(([ended, count]) => `${count} ${ended}`);
  const text = [
    `Endpoints: ${STATES.map((state) => `${endpoints[state]} ${state}`).join(', ')}`,
    `Pending deliveries: ${pending}; the longest due for ${queueAgeSeconds} s`,
    `Attempts of the last 24 hours: ${counts.join(', ') || 'none'}`,
  ];
  if (troubled.length === 0) return text;
  const listed = tableOf(troubled, {
    endpoint: ({ endpoint }) => endpoint.endpointId,
    workspace: 'workspaceId',
    state: ({ endpoint }) => endpoint.health.state,
    reason: ({ endpoint }) => endpoint.health.disabledReason,
    failures: ({ endpoint }) => endpoint.health.consecutiveFailures,
    'failing since': ({ endpoint }) => endpoint.health.failingSince,
    'last success': ({ lastSuccessAt }) => lastSuccessAt ?? 'never',
  });
  return [...text, '', listed];
};

const describeProbes = ({ askedAt, attempts, nextProbeAt, lastError }: VerificationRecord): string =>
  `Not verified: waits since ${askedAt}; ${attempts} probes sent, last failure ${lastError ?? 'none'}; next probe ${nextProbeAt}`;

interface ReplayOptions {
  readonly endpoint: string;
  readonly since: number;
  readonly until?: number;
  readonly types?: readonly PublicEventType[];
  readonly statuses?: readonly ReplayableStatus[];
  readonly yes?: true;
  readonly wait: number;
}

const WAIT_SECONDS = 300;
const POLL_MS = 200;

const run = async (session: Session, options: ReplayOptions): Promise<ReplayRecord> => {
  const { endpoint, since, until, types = null, statuses = null, yes = false, wait } = options;
  const { workspaceId } = await requireEndpoint(session, endpoint);
  const period = { since: instant(since), until: until === undefined ? null : instant(until) };
  const choice = { ...period, types, statuses, modes: null, dryRun: !yes };
  const answer = await session.commands.execute(new ReplayEvents(endpoint, workspaceId, choice, null));
  if (!('record' in answer)) throw refusedBecause(answer);
  const { replayId } = answer.record;
  for (const deadline = Date.now() + wait * 1_000; Date.now() < deadline; await delay(POLL_MS)) {
    const now = await session.queries.execute(new GetReplay(endpoint, replayId));
    if (now && (now.state === 'finished' || now.state === 'stopped')) return now;
  }
  throw new OpsError(
    `The replay ${replayId} is not finished after ${wait} s. Is a worker running? The replay continues by itself.`,
  );
};

function choiceOf<T extends string>(allowed: readonly T[]): (text: string) => readonly T[] {
  return (text) => {
    const chosen = text.split(',');
    const known = allowed.filter((one) => chosen.includes(one));
    if (known.length !== new Set(chosen).size)
      throw new InvalidArgumentError(`must be one or more of ${allowed.join(', ')}`);
    return known;
  };
}

/** By the names of the commands. */
export const commands = { webhooks: addWebhooksCommands };
