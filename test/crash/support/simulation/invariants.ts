import type { Recorded } from '#event-sourcing/core/event.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import type { PublicationEvent } from '#publishing/contracts/index.js';
import type { Customer } from './customers.js';
import { checkErasures } from './erasures.js';
import { placeOf } from './lost-suffix.js';
import { plainPool } from './pool.js';
import { WRAPPING_KEYS, type World } from './world.js';
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
  const history = await historyOf(world);
  const keys = new SubjectKeys(plainPool(world.postgres), WRAPPING_KEYS);
  checkReadings(world, history, report);
  checkKeys(world, history, report);
  await checkPublications(world, history, keys, report);
  await checkErasures(world, history, keys, report);
  checkCustomers(history, customers, report);
  checkHolds(history, report);
  await checkBooks(world, history, report);
  checkTestBooks(history, report);
  checkModes(world, history, customers, report);
  checkReconciliation(world, history, report);
  checkDeliveries(world, history, report);
  checkViews(world, history, report);
  await checkRebuilt(world, history, report);
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
const checkKeys = ({ lost }: World, { readings, rows }: History, report: Report): void => {
  const kept = new Set(rows('platform.subject_key').map((row) => row['subject_id'] as string));
  for (const [id, events] of readings) {
    if (count(events, 'ReadingErased') > 0 || lost.keys.has(id)) continue;
    if (count(events, 'ReadingRequested') > 0 && !kept.has(id)) report(`reading ${id} has lost its key`);
  }
  for (const id of kept) {
    if (count(readings.get(id) ?? [], 'ReadingRequested') === 0)
      report(`a key is left of ${id}, which is no reading`);
  }
};

/** Stored documents were rendered with the recorded time, so every repetition yields the same bytes. */
const checkPublications = async (
  { lost }: World,
  { publications, readings, rows }: History,
  keys: SubjectKeys,
  report: Report,
): Promise<void> => {
  const digests = new Map(rows('publishing.artifact').map((row) => [placeOf(row), row['digest']]));
  for (const [id, events] of publications) {
    if (count(readings.get(id) ?? [], 'ReadingErased') > 0) continue;
    for (const event of events) {
      if (event.type !== 'DocumentPublished') continue;
      const { publishedAt, version } = event.data;
      const place = placeOf({ reading_id: id, version, format: 'document_v1' });
      if (lost.artifacts.has(place) || lost.keys.has(id)) continue;
      const key = await keys.find(id);
      const rendered = key?.digest('artifact', Buffer.from(JSON.stringify({ publishedAt }))).toString('hex');
      if (digests.get(place) !== rendered) {
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
