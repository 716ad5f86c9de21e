import type { Command } from 'commander';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';

const HELP = `
Two URLs define the logins:
  EVENTSTORE_ADMIN_URL   a member of $admins; used only by this command
  EVENTSTORE_URL         the service: its user and password, which this command creates

The login joins a group. The group may then read $all, and read and append to all streams but the system's. It cannot
delete streams or change metadata. Every other login except $admins is refused, unless default access was already set.
Safe to repeat: each run sets the password. Use it for a dedicated store; let the administrator prepare a shared one.

To replace the login without a pause, run it with a new user in EVENTSTORE_URL: both are in the group. Restart the
processes with the new one, then delete the old one in the store.

Example:
  export EVENTSTORE_ADMIN_URL='esdb://admin:…@store.example.com:2113?tlsCAFile=/certs/ca.crt'
  ops event-store prepare`;

export const addEventStoreCommands = (store: Command): void => {
  store
    .command('prepare')
    .description('create the service’s login and set what it and others may do')
    .option('--group <name>', 'group that gets the access', 'reading-services')
    .addHelpText('after', HELP)
    .action(async ({ group }: { group: string }, command: Command) => {
      const adminUrl = process.env['EVENTSTORE_ADMIN_URL'];
      const login = loginOf(process.env['EVENTSTORE_URL']);
      if (!adminUrl || !loginOf(adminUrl))
        throw new OpsError('Set EVENTSTORE_ADMIN_URL to esdb://admin:password@host:port.');
      if (!login) throw new OpsError('Set EVENTSTORE_URL to esdb://user:password@host:port.');
      if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(group))
        throw new OpsError('--group takes 1 to 64 letters, digits, dots, hyphens and underscores.');
      // Imported late: the event store's client is large.
      const { prepareEventStore, UnpreparableStore } =
        await import('#event-sourcing/store/prepare-eventstoredb.js');
      const parts = await prepareEventStore({ adminUrl, login, group }).catch((error: unknown) => {
        throw error instanceof UnpreparableStore ? new OpsError(error.message) : error;
      });
      const text = parts.map(({ part, change }) => `${part}: ${change}`).join('\n');
      print(command, { username: login.username, group, parts }, text);
    });
};

/** The user and password of a URL, parsed as the client does. */
const loginOf = (url = ''): { username: string; password: string } | undefined => {
  const [, username, password] = /^esdb(?:\+discover)?:\/\/([^:@/]+):([^@]+)@/.exec(url) ?? [];
  if (username === undefined || password === undefined) return undefined;
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
};
