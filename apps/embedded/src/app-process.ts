import type { DataFolder } from './data-folder.js';
import { LogFile } from './log-file.js';
import { launchNode, type Announcement } from './node-service.js';
import type { ProcessRecord } from './process-record.js';
import { Supervisor, type SupervisorEvents } from './supervisor.js';

/** One of the service's own processes, configured only by its environment. */
export const appProcess = (
  name: 'api' | 'worker',
  /** Absolute path. */
  program: string,
  folder: DataFolder,
  record: ProcessRecord,
  events: SupervisorEvents,
  /** Evaluated at every start. */
  environment: () => NodeJS.ProcessEnv,
): Supervisor<Announcement> => {
  const log = new LogFile(folder.logs, name);
  return new Supervisor(
    {
      name,
      log,
      stopSignal: 'SIGTERM',
      launch: () =>
        launchNode(program, {
          name,
          args: [],
          environment: { ...environment(), EXIT_WITH_PARENT: '1' },
          log,
          record,
        }),
    },
    events,
  );
};
