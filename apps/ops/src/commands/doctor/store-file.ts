import { join } from 'node:path';
import { programPath } from '#platform/program-path.js';
import { readAddress } from '#event-sourcing/store/address.js';
import { dataDirOf } from '../../../../embedded/src/data-folder.js';
import { failure, ok, type Finding } from './finding.js';

/** Shorter than the doctor's wait for a check. */
const VERIFY_WITHIN_MS = 8_000;

/** Whether the file of the embedded event store is sound: every record, the index and the heads. */
export const checkStoreFile = async (
  environment: NodeJS.ProcessEnv,
  eventStoreUrl: string,
): Promise<readonly Finding[]> => {
  const check = 'event store file';
  // The embedded store of a stack serves TLS only: another one has files of its own.
  if (environment['DATABASE_URL'] || !readAddress(eventStoreUrl).usesTls) return [];
  const folder = join(dataDirOf(environment), 'event-store');
  const { verifyApart } = await import('#embedded-event-store/operator/verify-apart.js');
  const patience = AbortSignal.timeout(VERIFY_WITHIN_MS);
  try {
    const { events, findings, listed } = await verifyApart(
      programPath('embedded-event-store'),
      folder,
      () => undefined,
      patience,
    );
    if (findings === 0) return [ok(check, `all ${events} events match their checksums`)];
    const more = findings > 1 ? ` (and ${findings - 1} more)` : '';
    return [
      { ...failure(check, `${folder} is damaged: ${listed[0]}${more}`, DAMAGED_ADVICE), cause: 'damaged' },
    ];
  } catch (error) {
    if (!patience.aborted) throw error;
    const command = `embedded-event-store verify --data ${folder}`;
    return [ok(check, `not read within ${VERIFY_WITHIN_MS / 1_000} s; ${command} reads it to the end`)];
  }
};

const DAMAGED_ADVICE = 'Restore a backup: docs/operations.md, "Backup and restore".';
