import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isSetAside } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import {
  askForRetry,
  parkedStreams,
  placeText,
  stoppedStreams,
  type Place,
} from '#event-sourcing/projections/parked-streams.js';
import { releaseParked } from '#event-sourcing/projections/runner.js';
import { readSetAside, recordSetAside } from '#event-sourcing/projections/set-aside.js';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { forgetVerifications } from '#event-sourcing/projections/rebuild.js';
import { AuditRecords } from '#platform/audit/audit-records.js';
import { isUuid } from '#platform/text/uuid.js';
import { MODULES } from '../../../service/src/modules.js';
import { PROJECTIONS } from '../../../service/src/projections.js';
import { OpsError, print, tableOf } from '../output.js';
import { withSession, type Session } from '../session.js';
import { mayBeNewerThanThis, ownerOf, parsePlace, problemOf, requireEvent } from './events.js';
import { example, someText, wholeNumber } from './options.js';

/** Longer than a consumer's pause between two attempts. */
const WAIT_SECONDS = 30;

/** Streams that wait for a consumer, and the two ways on: retry them, or set the event aside that stops them. */
const addParkedCommands = (parked: Command): void => {
  parked.addHelpText(
    'after',
    `
A consumer that cannot handle an event parks its stream: this event and the later ones wait, the others continue. It
tries again every 30 seconds, and never skips by itself. It halts as a whole when the database refuses its work, or when
more than 25 events keep streams parked.

An event that was set aside stays in the log. Consumers, rebuilds, replays, reports, exports and the history of a reading
pass over it, and say so. The decision is an event of its own (ops streams show setAside-events), and final.`,
  );
  parked
    .command('list')
    .description('streams that consumers have parked or halted at, and events that are set aside')
    .argument('[consumer]', 'a process or projection; default: all')
    .addHelpText('after', example('parked list readings.reading.v1'))
    .action(async (consumer: string | undefined, _: object, command: Command) => {
      const { stopped, setAside, unreadable } = await withSession(async ({ pool, store }) => {
        const register = await readSetAside(store);
        return {
          stopped: await stoppedStreams(pool, consumer ?? null),
          setAside: register
            .all()
            .filter((one) => consumer === undefined || isSetAside({ setAside: one }, consumer)),
          unreadable: register.unreadable().map((one) => ({ event: placeText(one), type: one.type })),
        };
      });
      if (consumer !== undefined && stopped.length === 0) requireConsumer(consumer);
      const text = [
        tableOf(stopped, {
          consumer: 'consumer',
          state: 'state',
          stream: 'stream',
          'because of': 'cause',
          since: ({ since }) => since.toISOString(),
          error: 'error',
        }),
        '',
        tableOf(setAside, {
          'set aside': placeText,
          type: 'eventType',
          'passed over by': ({ consumers }) => consumers?.join(' ') ?? 'every reader',
          'decided by': 'by',
          when: 'at',
          why: 'reason',
          cause: 'cause',
        }),
        ...unreadable.map(({ event, type }) => `${event} (${type}) is no decision and has no effect.`),
      ];
      print(command, { stopped, setAside, unreadable }, text);
    });

  parked
    .command('retry')
    .description('retry what is stopped now: a projection at once, a process by its worker')
    .argument('<consumer>', 'a process or projection')
    .option('--stream <stream>', 'only this stream')
    .option('--wait <seconds>', 'how long to wait for a worker', wholeNumber, WAIT_SECONDS)
    .addHelpText('after', example('parked retry readings.reading.v1 --stream reading-7f9c24e8-…'))
    .action(async (consumer: string, options: { stream?: string; wait: number }, command: Command) => {
      const { stream, wait } = options;
      const wanted = { consumer, ...(stream !== undefined && { stream }) };
      const { before, left } = await withSession((session) => retryStopped(session, wanted, wait));
      const [first] = left;
      if (first)
        throw new OpsError(
          `${consumer} is still ${first.state} at ${first.cause}: ${first.error}. Is a worker running that can handle it?`,
        );
      const retried = before.map((one) => one.stream);
      print(command, { consumer, retried }, `${consumer} has handled ${retried.join(', ')}`);
    });

  parked
    .command('set-aside')
    .description(
      'have readers pass over an event that they cannot handle, for good; what waits goes on at once',
    )
    .argument('<event>', 'the event, as <stream>@<revision>; ops doctor names it', parsePlace)
    .requiredOption('--reason <text>', 'why; recorded permanently with your name', someText)
    .option('--yes', 'do it; without this, only show what would be set aside')
    .addHelpText(
      'after',
      `
Every reader passes over an event that cannot be read. One that can be read is set aside only for processes that have
stopped at it: do by hand what they would have done. A view must handle it, so that its rows are those of the log.

Example:
  ops parked set-aside reading-7f9c24e8-…@3 --reason "written by a broken script, INC-42" --yes`,
    )
    .action(async (place: Place, options: { reason: string; yes?: true }, command: Command) => {
      const result = await withSession((session) => setEventAside(session, place, options));
      print(command, result, sentence(result), result.stillStopped.length > 0);
    });
};

/** Consumers that do something which a person can do by hand. */
const PROCESSES: readonly string[] = MODULES.flatMap(({ processes }) => Object.keys(processes));
const CONSUMERS: readonly string[] = [...PROJECTIONS.map(({ name }) => name), ...PROCESSES];

/** Takes the versions of a projection that are being built, too. @throws OpsError naming the known ones */
const requireConsumer = (name: string): void => {
  if (CONSUMERS.includes(name.replace(/__v\d+$/, ''))) return;
  throw new OpsError(`There is no consumer ${name}. Known consumers: ${CONSUMERS.join(', ')}.`);
};

type Decided = Awaited<ReturnType<typeof setEventAside>>;

const sentence = ({ event, type, consumers, cause, outcome, isOfNewer, stillStopped }: Decided): string => {
  const who = consumers?.join(', ') ?? 'every reader';
  if (outcome === 'set_aside')
    return [
      `${event} is set aside for ${who}.`,
      ...stillStopped.map(({ consumer, error }) => `${consumer} still cannot continue: ${error}`),
    ].join('\n');
  const newer = isOfNewer ? ' A newer version of the program may understand it: ask which one wrote it.' : '';
  return `Would set ${event} (${type}) aside for ${who}: ${cause}.${newer} It cannot be undone. Add --yes to do it.`;
};

/** Records the decision, and has what waited handled. @throws OpsError when readers can handle the event */
const setEventAside = async (
  session: Session,
  place: Place,
  { reason, yes }: { readonly reason: string; readonly yes?: true },
) => {
  const { store, pool } = session;
  const event = await requireEvent(store, place);
  const problem = problemOf(event, await ownerOf(store, place.stream));
  const stopped = await stoppedBy(session, place);
  const consumers =
    problem !== null || isSetAside(event) ? null : stopped.filter((name) => PROCESSES.includes(name));
  if (consumers?.length === 0)
    throw new OpsError(
      stopped.length === 0
        ? `${placeText(place)} can be read, and nothing has stopped at it.`
        : `${placeText(place)} can be read, so ${stopped.join(', ')} must handle it: fix the cause, and it is handled by itself.`,
    );
  const cause = problem ?? (await errorAt(session, place)) ?? 'it is set aside already';
  const decision = {
    event: placeText(place),
    type: event.type,
    consumers,
    cause,
    reason,
    isOfNewer: problem !== null && mayBeNewerThanThis(event),
  };
  if (!yes) return { ...decision, outcome: 'not_set_aside' as const, stillStopped: [] };
  // A command that ended after its decision is finished by a repetition.
  const isDecided = consumers?.every((one) => isSetAside(event, one)) ?? isSetAside(event);
  if (!isDecided) {
    const { stream, id: eventId, type: eventType } = event;
    const about = { stream, revision: String(place.revision), eventId, eventType };
    const by = session.by();
    await recordSetAside(store, { ...about, consumers: consumers && [...consumers], cause, reason }, by);
  }
  await forgetVerifications(pool);
  const stillStopped = await releaseStopped(session, { cause: place }, WAIT_SECONDS);
  return { ...decision, outcome: 'set_aside' as const, stillStopped };
};

const errorAt = async ({ pool }: Session, place: Place): Promise<string | undefined> =>
  (await parkedStreams(pool)).find(({ cause }) => placeText(cause) === placeText(place))?.error;

const POLL_MS = 500;
const silent = { warn: () => undefined, error: () => undefined };

/** What is to be handled again: everything a consumer has stopped at, one stream of it, or all that an event stops. */
interface Wanted {
  readonly consumer?: string;
  readonly stream?: string;
  readonly cause?: Place;
}

/** What is stopped, of what is wanted. */
const stoppedOf = async ({ pool }: Session, { consumer, stream, cause }: Wanted) =>
  (await stoppedStreams(pool, consumer ?? null)).filter(
    (one) =>
      !/__v\d+$/.test(one.consumer) &&
      (stream === undefined || one.stream === stream) &&
      (cause === undefined || one.cause === placeText(cause)),
  );

/** Records who asked before the attempt, so that none goes unrecorded. @throws OpsError when nothing is stopped there */
const retryStopped = async (
  session: Session,
  wanted: Wanted & { readonly consumer: string },
  waitSeconds: number,
) => {
  const { consumer, stream } = wanted;
  const before = await stoppedOf(session, wanted);
  if (before.length === 0)
    throw new OpsError(
      `${consumer} is not stopped${stream === undefined ? '' : ` at ${stream}`}: ops parked list shows what is.`,
    );
  const id = stream === undefined ? '' : streamId(stream);
  await new AuditRecords(session.pool).add([
    {
      at: Date.now(),
      requestId: randomUUID(),
      requests: 1,
      method: 'OPS',
      route: `parked retry ${consumer}`,
      status: 200,
      workspaceId: null,
      actor: session.actor,
      address: null,
      readingId: isUuid(id) ? id : null,
      personal: false,
    },
  ]);
  return { before, left: await releaseStopped(session, wanted, waitSeconds) };
};

/** Handles what projections have parked; a worker does so for processes and halted consumers. @returns what is still stopped */
const releaseStopped = async (session: Session, wanted: Wanted, waitSeconds: number) => {
  const { pool, store } = session;
  const failed = new Set<string>();
  for (const { consumer, key } of await stoppedOf(session, wanted)) {
    const projection = PROJECTIONS.find(({ name }) => name === consumer);
    if (!projection || key === null || failed.has(`${consumer} ${key}`)) continue;
    const parts = { pool, store, log: silent };
    const { outcome } = await releaseParked(projectionConsumer(projection), parts, key);
    if (outcome === 'still_parked') failed.add(`${consumer} ${key}`);
  }
  for (const deadline = Date.now() + waitSeconds * 1_000; ; await delay(POLL_MS)) {
    const left = await stoppedOf(session, wanted);
    const ofWorkers = left.filter(({ consumer, key }) => !failed.has(`${consumer} ${key}`));
    if (ofWorkers.length === 0 || Date.now() > deadline) return left;
    // Again and again: a worker may have begun its attempt before it knew of the decision.
    for (const { consumer, key } of ofWorkers) if (key !== null) await askForRetry(pool, consumer, { key });
  }
};

/** Consumers that stand still because of an event. */
const stoppedBy = async (session: Session, cause: Place): Promise<readonly string[]> => {
  const stopped = await stoppedOf(session, { cause });
  return [...new Set(stopped.map(({ consumer }) => consumer))].toSorted();
};

export const commands = { parked: addParkedCommands };
