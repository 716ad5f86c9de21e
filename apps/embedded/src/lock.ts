import { UnusableDataError } from '#embedded-event-store/log/environment.js';
import { holderOf, lockFolder } from '#embedded-event-store/log/folder-lock.js';
import { StackError } from './stack-error.js';

/** @param dataDir what the lock is about @returns what releases it @throws StackError when a running process holds it */
export const takeLock = (folder: string, dataDir = folder): (() => void) => {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (!(error instanceof UnusableDataError)) throw error;
    const holder = holderOf(folder);
    throw new StackError(
      holder
        ? `Already running on ${dataDir} (process ${holder.pid}). Stop it first, or choose another DATA_DIR.`
        : `Another process is starting on ${dataDir}.`,
    );
  }
};
