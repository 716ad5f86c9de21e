import type { Command } from 'commander';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import { parkedStreams, placeText, type Place } from '@app/event-sourcing/projections/parked-streams.js';
import { categoriesOf } from '@app/event-sourcing/projections/projection.js';
import { decideQuarantine } from '@app/event-sourcing/quarantine/decide-quarantine.js';
import { replayStream } from '@app/event-sourcing/rebuilding/replay-stream.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { PROJECTIONS } from '../../projections.js';
import { withSession, type Session } from '../../session.js';
import {
  mayBeNewerThanThis,
  ownerOf,
  parsePlace,
  parseUntil,
  problemOf,
  requireEvent,
  whyItStays,
} from './place.js';
import { releaseStopped, stoppedBy } from './release.js';

const WAIT_SECONDS = 30;

export interface QuarantineOptions {
  readonly reason: string;
  readonly until?: string;
  readonly everywhere?: true;
  readonly yes?: true;
}

/** Registers `quarantine add`. */
export const addAdd = (quarantine: Command): void => {
  quarantine
    .command('add')
    .description(
      'have readers pass over an event that cannot be handled; what waits behind it is handled at once',
    )
    .argument('<event>', 'the event, as <stream>@<revision>; ops doctor names it', parsePlace)
    .requiredOption('--reason <text>', 'why; recorded permanently with your name')
    .option('--until <day>', 'when doctor warns that somebody has to look at it again', parseUntil)
    .option(
      '--everywhere',
      'also for readers that can handle it: the event is no fact at all; not for credit books',
    )
    .option('--yes', 'although a newer version of the program may understand the event')
    .addHelpText(
      'after',
      `
Examples:
  ops quarantine add reading-7f9c24e8-…@3 --reason "written by a broken script, INC-42"
  ops quarantine add credits-ws_…@17 --reason "of the version that was rolled back" --until 2026-12-31`,
    )
    .action(async (place: Place, options: QuarantineOptions, command: Command) => {
      const result = await withSession((session) => quarantineEvent(session, place, options));
      const who = result.consumers === null ? 'Every reader passes' : `${result.consumers.join(', ')} pass`;
      print(command, result, `${who} over ${placeText(place)}.${waiting(result.stillStopped)}`);
      if (result.stillStopped.length > 0) process.exitCode = 1;
    });
};

const waiting = (still: readonly { consumer: string; error: string }[]): string =>
  still.map(({ consumer, error }) => `\n${consumer} still cannot continue: ${error}`).join('');

/** Records a quarantine and has what waited handled. @throws OpsError when the event is not one to pass over */
export const quarantineEvent = async (
  session: Session,
  place: Place,
  { reason: given, until, everywhere, yes }: QuarantineOptions,
) => {
  const reason = given.trim();
  if (reason === '') throw new OpsError('--reason must say why.');
  const event = await requireEvent(session.store, place);
  const problem = problemOf(event, await ownerOf(session.store, place.stream));
  if (problem !== null && !yes && mayBeNewerThanThis(event))
    throw new OpsError(
      `This program cannot read ${placeText(place)} (${event.type}): ${problem}. A newer version may: ask which one wrote it. If none understands it, add --yes.`,
    );
  const stopped = await stoppedBy(session, place);
  // A command that ended after its decision is finished by a repetition.
  const isDecided = event.quarantine?.consumers === null && until === undefined;
  const stays = problem === null && everywhere ? whyItStays(event.stream) : null;
  if (stays !== null) throw new OpsError(stays);
  if (problem === null && !everywhere && !isDecided && stopped.length === 0)
    throw new OpsError(`${placeText(place)} can be read, and nothing has stopped at it.`);
  const consumers = problem !== null || everywhere || isDecided ? null : [...stopped];
  const cause = problem ?? (await errorAt(session, place)) ?? 'an operator calls it no fact';
  const decision = {
    stream: place.stream,
    revision: String(place.revision),
    eventId: event.id,
    eventType: event.type,
    consumers,
    cause,
    reason,
    until: until ?? null,
  };
  if (!isDecided) await decideQuarantine(session, { type: 'EventQuarantined', data: decision }, session.by());
  if (consumers === null && problem === null) await replayRows(session, place);
  const stillStopped = await releaseStopped(session, { cause: place }, WAIT_SECONDS);
  const decided = { event: placeText(place), type: event.type, consumers, cause };
  return { ...decided, reason: isDecided ? event.quarantine.reason : reason, stillStopped };
};

/** Views may have handled the event before: their rows are made anew without it. */
const replayRows = async ({ pool, store }: Session, { stream }: Place): Promise<void> => {
  const workshop = { pool, store, log: { warn: () => undefined, error: () => undefined }, program: '' };
  for (const projection of PROJECTIONS) {
    if (projection.keptBy === undefined && categoriesOf(projection).includes(categoryOf(stream)))
      await replayStream(workshop, projection, stream);
  }
};

const errorAt = async ({ pool }: Session, place: Place): Promise<string | undefined> =>
  (await parkedStreams(pool)).find(({ cause }) => placeText(cause) === placeText(place))?.error;
