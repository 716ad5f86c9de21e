import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { withSetAside } from '#event-sourcing/projections/set-aside.js';
import { rebuild, verify, Refused } from '#event-sourcing/projections/rebuild.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { LAST_WORDS } from '#platform/config/event-store-options.js';
import { openPool } from '#platform/postgres/pool.js';
import { removeDataFolder } from '../../../embedded/src/data-folder.js';
import { startEmbeddedEventStore } from '../../../embedded/src/event-store-process.js';
import { PROJECTIONS } from '../../../service/src/projections.js';
import { OpsError, withProgress } from '../output.js';
import { programFingerprint } from '../commands/projections.js';
import { readLog } from './log.js';
import { damagedFiles, isDiskFull, type LogFingerprint, type Manifest } from './manifest.js';
import { buildDataFolder, QUIET, withProcesses, type OpenFolder } from './restore.js';
import { differingTables, loadTables } from './tables.js';

const SILENT_LOG = { warn: () => undefined, error: () => undefined };

/**
 * Checks every file, restores into a scratch folder, and compares the rows, the log, and every read model with its rebuild.
 * @param scratch connection of an EventStoreDB that serves the restored files; an embedded backup needs none
 * @returns findings and what could not be compared here, a sentence each
 */
export const verifyBackup = async (backup: string, manifest: Manifest, scratch: string | null) => {
  const { tables } = manifest.postgres;
  const report = {
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    events: manifest.eventStore.log.events,
    projections: 0,
    notCompared: [] as string[],
  };
  const damaged = damagedFiles(backup, manifest);
  if (damaged.length > 0) return { ...report, findings: damaged };
  const folder = mkdtempSync(join(tmpdir(), 'reading-service-verify-'));
  const findings: string[] = [];
  try {
    await withProgress('restore', (progress = () => undefined) =>
      buildDataFolder(
        folder,
        backup,
        manifest,
        async ({ owner }) => {
          await loadTables(owner, backup, manifest, progress, null);
          findings.push(...(await differingTables(owner, manifest)));
        },
        (open) =>
          withScratchStore(open, manifest, scratch, async (store) => {
            findings.push(...(await differingLog(store, manifest.eventStore.log)));
            const compared = await differingProjections(open.urls.owner, withSetAside(store));
            report.projections = compared.projections;
            findings.push(...compared.findings);
          }),
      ),
    );
    if (manifest.eventStore.kind !== 'embedded' && scratch === null) report.notCompared.push(NO_SCRATCH);
    return { ...report, findings };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new OpsError(
      `The disk of ${dirname(folder)} is too small to verify the backup: set TMPDIR to a folder with room for it.`,
    );
  } finally {
    removeDataFolder(folder);
  }
};

const NO_SCRATCH =
  'The log and the read models: start an EventStoreDB on the restored files, and name it with --scratch-event-store.';

/** Does the work on the restored log. Of servers, only a store that the operator names serves it. */
const withScratchStore = async (
  { folder, record }: OpenFolder,
  { eventStore }: Manifest,
  scratch: string | null,
  work: (store: EventStore) => Promise<void>,
): Promise<void> => {
  if (eventStore.kind !== 'embedded') return scratch === null ? undefined : onEventStore(scratch, work);
  await withProcesses(async (adopt) => {
    const { url } = await startEmbeddedEventStore({ folder, record, events: QUIET, adopt });
    await onEventStore(url, work);
  });
};

const onEventStore = async (url: string, work: (store: EventStore) => Promise<void>): Promise<void> => {
  const store = await openEventStore({
    connectionString: url,
    mayBeginWith: LAST_WORDS,
    appendTimeoutMs: 5_000,
    readTimeoutMs: 10_000,
  });
  try {
    await work(store);
  } finally {
    await store.close();
  }
};

const differingLog = async (store: EventStore, wanted: LogFingerprint): Promise<readonly string[]> => {
  const end = wanted.lastPosition === null ? null : BigInt(wanted.lastPosition);
  const { log } = await withProgress('log', (progress) => readLog(store, end, progress));
  if (log.events !== wanted.events)
    return [`The log has ${log.events} events up to ${wanted.lastPosition}, instead of ${wanted.events}.`];
  if (log.lastPosition !== wanted.lastPosition)
    return [`The log ends at ${log.lastPosition} instead of ${wanted.lastPosition}.`];
  return log.sha256 === wanted.sha256 ? [] : ['Events of the log have other contents than in the service.'];
};

/** Rebuilds each read model beside the restored one, up to its checkpoint, and compares every row. */
const differingProjections = async (
  url: string,
  store: EventStore,
): Promise<{ findings: readonly string[]; projections: number }> => {
  const pool = openPool(url, {
    size: 5,
    applicationName: 'reading-service ops backup verify',
    onError: () => undefined,
  });
  const workshop = { pool, store, log: SILENT_LOG, program: programFingerprint() };
  const findings: string[] = [];
  let projections = 0;
  try {
    for (const projection of PROJECTIONS) {
      try {
        await rebuild(workshop, projection);
        const { equal, tables } = await verify(workshop, projection);
        projections += 1;
        if (equal) continue;
        for (const { table, differences, examples } of tables.filter((one) => one.differences > 0))
          findings.push(`${table} differs from its rebuild in ${differences} rows, such as ${examples[0]}.`);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        // A view that has never handled an event has nothing to compare.
        if (!/has not handled any event/.test(error.message)) findings.push(error.message);
      }
    }
    return { findings, projections };
  } finally {
    await pool.end();
  }
};
