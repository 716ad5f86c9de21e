import { InvalidArgumentError, Option, type Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import {
  GetReplay,
  PUBLIC_EVENT_TYPES,
  REPLAYABLE_STATUSES,
  ReplayEvents,
  type PublicEventType,
  type ReplayableStatus,
  type ReplayRecord,
} from '#webhooks/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withSession, type Session } from '../../session.js';
import { parseInstant } from '../options.js';
import { withProgress } from '../../progress.js';
import { refusedBecause, requireEndpoint } from './endpoint.js';

interface Options {
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
/** Steps of the progress bar. */
const PARTS = 1_000;

export const addReplay = (webhooks: Command): void => {
  webhooks
    .command('replay')
    .description('send past events to an endpoint, in order; without --yes, only count them')
    .requiredOption('--endpoint <id>', 'the endpoint')
    .requiredOption('--since <instant>', 'events at this time or later', parseInstant)
    .option('--until <instant>', 'events before this time; default: now', parseInstant)
    .addOption(
      new Option(
        '--types <types>',
        'event types, comma-separated; default: those it subscribes to',
      ).argParser(choiceOf(PUBLIC_EVENT_TYPES)),
    )
    .addOption(
      new Option(
        '--statuses <statuses>',
        'their delivery statuses at the endpoint, comma-separated; default: missing,skipped,exhausted',
      ).argParser(choiceOf(REPLAYABLE_STATUSES)),
    )
    .option('--yes', 'send them')
    .option(
      '--wait <seconds>',
      'how long to wait for a worker to process the log',
      parseSeconds,
      WAIT_SECONDS,
    )
    .addHelpText(
      'after',
      `
Examples:
  ops webhooks replay --endpoint we_… --since 2026-04-01
  ops webhooks replay --endpoint we_… --since 2026-04-01 --statuses skipped --yes`,
    )
    .action(async (options: Options, command: Command) => {
      const replay = await withSession((session) => run(session, options));
      const { dryRun, events, state } = replay;
      if (state === 'stopped')
        throw new OpsError('The replay stopped: someone stopped it, or the endpoint was disabled.');
      print(
        command,
        replay,
        dryRun ? `${events} events would be sent: add --yes to send them` : `${events} events are being sent`,
      );
    });
};

const run = async (session: Session, options: Options): Promise<ReplayRecord> => {
  const { endpoint, since, until, types = null, statuses = null, yes = false, wait } = options;
  const { workspaceId } = await requireEndpoint(session, endpoint);
  const choice = {
    since: new Date(since).toISOString(),
    until: until === undefined ? null : new Date(until).toISOString(),
    types,
    statuses,
    modes: null,
    dryRun: !yes,
  };
  const answer = await session.commands.execute(new ReplayEvents(endpoint, workspaceId, choice, null));
  if (!('record' in answer)) throw refusedBecause(answer);
  const { replayId } = answer.record;
  return withProgress('replay', async (progress) => {
    for (const deadline = Date.now() + wait * 1_000; Date.now() < deadline; await delay(POLL_MS)) {
      const now = await session.queries.execute(new GetReplay(endpoint, replayId));
      progress?.(Math.floor((now?.progress ?? 0) * PARTS), PARTS);
      if (now && (now.state === 'finished' || now.state === 'stopped')) return now;
    }
    throw new OpsError(
      `The replay ${replayId} is not finished after ${wait} s. Is a worker running? The replay continues by itself.`,
    );
  });
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

function parseSeconds(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('must be a whole number of seconds above 0');
  return Number(text);
}
