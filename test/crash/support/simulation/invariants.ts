import { createHash } from 'node:crypto';
import type { Recorded } from '#event-sourcing/core/event.js';
import type { PublicationEvent } from '#publishing/contracts/index.js';
import type { Customer } from './customers.js';
import { checkErasures } from './erasures.js';
import type { World } from './world.js';
import { count, historyOf, type History, type Report } from './history.js';
import { checkHolds, checkBooks, checkReconciliation, checkTestBooks } from './check-books.js';
import { checkModes } from './check-modes.js';
import { MOST_VERSIONS } from './service.js';
import { checkDeliveries } from './check-deliveries.js';
import { checkViews, checkRebuilt } from './check-views.js';

/** What must hold at the end, whatever happened before. @returns one sentence for each breach */
export const breachesOf = async (world: World, customers: readonly Customer[]): Promise<string[]> => {
  const breaches = [...new Set(world.alarms)];
  const report: Report = (breach) => breaches.push(breach);
  const history = historyOf(world);
  checkReadings(world, history, report);
  checkKeys(world, history, report);
  checkPublications(world, history, report);
  checkErasures(world, report);
  checkCustomers(history, customers, report);
  checkHolds(history, report);
  await checkBooks(world, history, report);
  checkTestBooks(history, report);
  checkModes(world, history, customers, report);
  checkReconciliation(world, report);
  checkDeliveries(world, report);
  checkViews(world, history, report);
  await checkRebuilt(world, report);
  return breaches;
};

const checkReadings = ({ lost }: World, { readings, publications }: History, report: Report): void => {
  for (const [id, events] of readings) {
    const requested = count(events, 'ReadingRequested');
    const ended = count(events, 'ReadingCompleted', 'ReadingFailed');
    if (requested > 1) report(`reading ${id} was requested ${requested} times`);
    if (ended !== requested)
      report(`reading ${id} was requested ${requested} times and ended ${ended} times`);
    const versions = versionsOf(publications.get(id) ?? [], 'DocumentPublished');
    const asked = versionsOf(publications.get(id) ?? [], 'PublicationRequested');
    const isErased = count(events, 'ReadingErased') > 0 || lost.keys.has(id);
    const due = count(events, 'ReadingCompleted');
    if (due === 0 && versions.length > 0) report(`reading ${id} was published and not completed`);
    if (due > 0 && !isErased && versions.length === 0) report(`reading ${id} was never published`);
    if (versions.some((version, index) => version !== index + 1) || versions.length > MOST_VERSIONS)
      report(`reading ${id} was published as versions ${versions.join()}`);
    if (
      asked.some((version, index) => version !== index + 1) ||
      (!isErased && asked.length !== versions.length)
    )
      report(`versions ${asked.join()} of reading ${id} were requested, and ${versions.join()} published`);
    const attempts = events.flatMap((event) => (event.type === 'ReadingStarted' ? [event.data.attempt] : []));
    if (attempts.some((attempt, index) => attempt !== index + 1))
      report(`reading ${id} lost count of its attempts`);
  }
};

const versionsOf = (
  events: readonly Recorded<PublicationEvent>[],
  wanted: 'PublicationRequested' | 'DocumentPublished',
): readonly number[] => events.flatMap((event) => (event.type === wanted ? [event.data.version] : []));

/** Every reading that is not erased can be opened, unless its key was lost. No key is left of a request that never became a reading. */
const checkKeys = ({ tables, lost }: World, { readings }: History, report: Report): void => {
  for (const [id, events] of readings) {
    if (count(events, 'ReadingErased') > 0 || lost.keys.has(id)) continue;
    if (count(events, 'ReadingRequested') > 0 && !tables.subjectKeys.has(id))
      report(`reading ${id} has lost its key`);
  }
  for (const id of tables.subjectKeys.keys()) {
    if (count(readings.get(id) ?? [], 'ReadingRequested') === 0)
      report(`a key is left of ${id}, which is no reading`);
  }
};

/** Stored documents were rendered with the recorded time, so every repetition yields the same bytes. */
const checkPublications = (
  { tables, lost }: World,
  { publications, readings }: History,
  report: Report,
): void => {
  for (const [id, events] of publications) {
    if (count(readings.get(id) ?? [], 'ReadingErased') > 0) continue;
    for (const event of events) {
      if (event.type !== 'DocumentPublished') continue;
      const { publishedAt, version } = event.data;
      const rendered = createHash('sha256').update(JSON.stringify({ publishedAt })).digest('hex');
      const place = `${id}|${version}|document_v1`;
      if (lost.artifacts.has(place)) continue;
      if (tables.artifacts.get(place)?.['digest'] !== rendered) {
        report(`the document of reading ${id} is not the one that was published`);
      }
    }
  }
};

const checkCustomers = ({ readings }: History, customers: readonly Customer[], report: Report): void => {
  for (const { idempotencyKey, workspaceId, accepted } of customers) {
    if (accepted.size > 1) report(`${idempotencyKey} of ${workspaceId} was answered with several readings`);
    for (const id of accepted) {
      if (count(readings.get(id) ?? [], 'ReadingRequested') !== 1)
        report(`reading ${id} was accepted, but is not there`);
    }
  }
};
