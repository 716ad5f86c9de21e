import { programPath } from '@app/platform/program-path.js';
import { newAccess } from './event-store-access.js';
import type { DataFolder } from './data-folder.js';
import { LogFile } from './log-file.js';
import { EVENT_STORE_FLAGS, launchNode, type Announcement } from './node-service.js';
import type { ProcessRecord } from './process-record.js';
import { Supervisor, type SupervisorEvents } from './supervisor.js';

export interface EventStoreProcess {
  readonly supervisor: Supervisor<Announcement>;
  readonly url: string;
}

/**
 * Starts the embedded event store of a data folder, with a new login and certificate. A restarted store keeps
 * its port. If another program has taken the port, clients do not send it the login, because that program
 * lacks the private key.
 */
export const startEventStore = async (
  folder: DataFolder,
  record: ProcessRecord,
  events: SupervisorEvents,
  adopt: (supervisor: Supervisor<Announcement>) => void,
): Promise<EventStoreProcess> => {
  const log = new LogFile(folder.logs, 'event-store');
  const access = newAccess(folder);
  let port = 0;
  const supervisor = new Supervisor(
    {
      name: 'event-store',
      log,
      stopSignal: 'SIGTERM',
      launch: () =>
        launchNode(
          programPath('embedded-event-store'),
          {
            name: 'event-store',
            args: [
              ...['--data', folder.eventStore, '--port', String(port), '--exit-with-parent'],
              ...['--tls-cert', access.certificate, '--tls-key', access.key, '--user-file', access.login],
            ],
            environment: process.env,
            log,
            record,
            crashHint: `its data file is probably damaged; embedded-event-store verify --data ${folder.eventStore}`,
          },
          EVENT_STORE_FLAGS,
        ),
    },
    events,
  );
  adopt(supervisor);
  port = (await supervisor.start()).port ?? 0;
  return { supervisor, url: access.urlAt(port) };
};
