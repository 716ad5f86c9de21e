import { programPath } from '#platform/program-path.js';
import { newAccess } from './event-store-access.js';
import type { DataFolder } from './data-folder.js';
import { launch } from './launched.js';
import { listenOnce } from './listen-once.js';
import { LogFile } from './log-file.js';
import { EVENT_STORE_FLAGS, launchNode, type Announcement } from './node-service.js';
import { otherEventStore } from './other-event-store.js';
import type { ProcessRecord } from './process-record.js';
import { Supervisor, type SupervisorEvents } from './supervisor.js';

export interface EventStoreProcess {
  readonly supervisor: Supervisor<Announcement>;
  readonly url: string;
}

/** What both kinds of event store need. */
interface Owner {
  readonly folder: DataFolder;
  readonly record: ProcessRecord;
  readonly events: SupervisorEvents;
  readonly adopt: (supervisor: Supervisor<Announcement>) => void;
}

/**
 * Starts the event store of a data folder.
 * @param command command line of another event store than the embedded one (EMBEDDED_EVENT_STORE_COMMAND)
 */
export const startEventStore = (owner: Owner, command: string | undefined): Promise<EventStoreProcess> =>
  command === undefined ? startEmbeddedEventStore(owner) : startOther(owner, command);

/** A restarted store keeps its port. */
const startOther = async (
  { folder, record, events, adopt }: Owner,
  commandLine: string,
): Promise<EventStoreProcess> => {
  const log = new LogFile(folder.logs, 'event-store');
  const port = await listenOnce(0, '127.0.0.1');
  const { url, leads, ...store } = otherEventStore(commandLine, port, folder.eventStore);
  const options = { name: 'event-store', environment: process.env, log, record, ...store };
  const ready = async (): Promise<Announcement> => {
    await leads();
    return { event: 'listening', port };
  };
  const supervisor = new Supervisor(
    { name: 'event-store', log, stopSignal: 'SIGTERM', launch: () => launch(options, ready) },
    events,
  );
  adopt(supervisor);
  await supervisor.start();
  return { supervisor, url };
};

/**
 * Starts the embedded event store of a data folder, with a new login and certificate. A restarted store keeps
 * its port. If another program has taken the port, clients do not send it the login, because that program
 * lacks the private key.
 */
export const startEmbeddedEventStore = async ({
  folder,
  record,
  events,
  adopt,
}: Owner): Promise<EventStoreProcess> => {
  const log = new LogFile(folder.logs, 'event-store');
  const access = await newAccess(folder);
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
