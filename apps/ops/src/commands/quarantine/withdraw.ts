import type { Command } from 'commander';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import { parkAgain, placeText, type Place } from '@app/event-sourcing/projections/parked-streams.js';
import { categoriesOf, checkpointOf } from '@app/event-sourcing/projections/projection.js';
import { transaction } from '@app/event-sourcing/projections/transaction.js';
import { decideQuarantine } from '@app/event-sourcing/quarantine/decide-quarantine.js';
import { readQuarantines } from '@app/event-sourcing/quarantine/quarantine-register.js';
import { replayStream } from '@app/event-sourcing/rebuilding/replay-stream.js';
import type { Workshop } from '@app/event-sourcing/rebuilding/versions.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { PROJECTIONS } from '../../projections.js';
import type { Session } from '../../session.js';
import { withWorkshop } from '../projections/workshop.js';
import { closedWithout } from './closed-without.js';
import { ownerOf, parsePlace, problemOf, requireEvent } from './place.js';
import { releaseStopped } from './release.js';

const WAIT_SECONDS = 30;

/** Registers `quarantine withdraw`. */
export const addWithdraw = (quarantine: Command): void => {
  quarantine
    .command('withdraw')
    .description(
      'have readers handle a quarantined event again, once this program can; rows are made anew in order',
    )
    .argument('<event>', 'the event, as <stream>@<revision>', parsePlace)
    .requiredOption('--reason <text>', 'why; recorded permanently with your name')
    .addHelpText(
      'after',
      '\nExample:\n  ops quarantine withdraw reading-7f9c24e8-…@3 --reason "version 2.4 understands it"',
    )
    .action(async (place: Place, { reason }: { reason: string }, command: Command) => {
      if (reason.trim() === '') throw new OpsError('--reason must say why.');
      const result = await withWorkshop((workshop, session) =>
        withdraw(workshop, session, place, reason.trim()),
      );
      const { replayed, handledAgain, stillStopped } = result;
      const text = [
        `The quarantine of ${placeText(place)} is withdrawn.`,
        ...replayed.map((name) => `${name} has rebuilt the rows of the stream.`),
        ...handledAgain.map((name) => `${name} handles the stream again from there.`),
        ...stillStopped.map(({ consumer, error }) => `${consumer} cannot continue: ${error}`),
      ];
      print(command, { event: placeText(place), ...result }, text.join('\n'));
      if (stillStopped.length > 0) process.exitCode = 1;
    });
};

const withdraw = async (workshop: Workshop, session: Session, place: Place, reason: string) => {
  const event = await requireEvent(session.store, place);
  const { quarantine } = event;
  // A command that ended after its decision is finished by a repetition.
  const consumers = quarantine
    ? quarantine.consumers
    : (await readQuarantines(session.store)).withdrawnFrom(place.stream, place.revision);
  if (consumers === undefined) throw new OpsError(`${placeText(place)} is not quarantined.`);
  const problem = problemOf(event, await ownerOf(session.store, place.stream));
  if (problem !== null)
    throw new OpsError(
      `This program cannot read ${placeText(place)} (${event.type}): ${problem}. It stays quarantined.`,
    );
  await requireInClose(session, event);
  if (quarantine) {
    const data = { stream: place.stream, revision: String(place.revision), reason };
    await decideQuarantine(session, { type: 'QuarantineWithdrawn', data }, session.by());
  }
  // After the decision: a consumer that gets there later knows of it.
  const passed = await passedBy(session, event, consumers);
  const replayed: string[] = [];
  for (const projection of PROJECTIONS) {
    if (projection.keptBy !== undefined || !passed.includes(projection.name)) continue;
    await replayStream(workshop, projection, place.stream);
    replayed.push(projection.name);
  }
  const handledAgain = passed.filter((name) => !replayed.includes(name));
  for (const name of handledAgain) {
    await transaction(session.pool, (client) =>
      parkAgain(
        client,
        name,
        event,
        quarantine ? `was quarantined: ${quarantine.reason}` : 'was quarantined',
      ),
    );
  }
  const stillStopped = await releaseStopped(session, { cause: place }, WAIT_SECONDS);
  return { replayed, handledAgain, stillStopped };
};

/** The consumers that follow the stream and have passed over the event. */
const passedBy = async (
  { pool }: Session,
  { stream, position }: StoredEvent,
  consumers: readonly string[] | null,
): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select name from event_sourcing.consumer
     where $1 = any (categories) and position >= $2 and name !~ '__v[0-9]+$'
       and ($3::text[] is null or name = any ($3)) order by name`,
    [categoryOf(stream), String(position), consumers],
  );
  const follows = (name: string): boolean => {
    const views = PROJECTIONS.filter((projection) => checkpointOf(projection) === name);
    return views.length === 0 || views.some((view) => categoriesOf(view).includes(categoryOf(stream)));
  };
  return rows.map(({ name }) => name).filter((name) => consumers !== null || follows(name));
};

/** @throws OpsError when the month of the event was closed without it */
const requireInClose = async ({ store }: Session, event: StoredEvent): Promise<void> => {
  const revision = await closedWithout(store, event);
  if (revision !== null)
    throw new OpsError(
      `A month of ${event.stream} was closed without it, at revision ${revision}: correct the book with ops credits adjust.`,
    );
};
