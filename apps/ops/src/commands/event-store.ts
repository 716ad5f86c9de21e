import type { Command } from 'commander';
import { prepareEventStore, UnpreparableStore } from '@app/event-sourcing/store/prepare-eventstoredb.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';

const HELP = `
Two addresses say what is wanted:
  EVENTSTORE_ADMIN_URL   as a member of $admins; for this command alone
  EVENTSTORE_URL         as the service: its user and its password are made

The service may then read $all, and read and append to streams that are not the system's. It can delete no stream and
change no metadata. Unless default access was set before, every other login but $admins is refused. It may be repeated;
the password is set each time. For a store of its own: one that others share is better prepared by its administrator.

Example:
  export EVENTSTORE_ADMIN_URL='esdb://admin:…@store.example.com:2113?tlsCAFile=/certs/ca.crt'
  ops event-store prepare`;

export const addEventStoreCommands = (store: Command): void => {
  store
    .command('prepare')
    .description('make the login of the service and set what it, and others, may do')
    .addHelpText('after', HELP)
    .action(async (_: object, command: Command) => {
      const adminUrl = process.env['EVENTSTORE_ADMIN_URL'];
      const login = loginOf(process.env['EVENTSTORE_URL']);
      if (!adminUrl || !loginOf(adminUrl))
        throw new OpsError('Set EVENTSTORE_ADMIN_URL to esdb://admin:password@host:port.');
      if (!login) throw new OpsError('Set EVENTSTORE_URL to esdb://user:password@host:port.');
      const parts = await prepareEventStore({ adminUrl, login }).catch((error: unknown) => {
        throw error instanceof UnpreparableStore ? new OpsError(error.message) : error;
      });
      const text = parts.map(({ part, change }) => `${part}: ${change}`).join('\n');
      print(command, { username: login.username, parts }, text);
    });
};

/** The user and password of an address, which the client reads in the same way. */
const loginOf = (url = ''): { username: string; password: string } | undefined => {
  const [, username, password] = /^esdb(?:\+discover)?:\/\/([^:@/]+):([^@]+)@/.exec(url) ?? [];
  if (username === undefined || password === undefined) return undefined;
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
};
