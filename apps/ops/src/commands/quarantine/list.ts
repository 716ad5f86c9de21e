import type { Command } from 'commander';
import { readQuarantines } from '@app/event-sourcing/quarantine/quarantine-register.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';

/** Registers `quarantine list`. */
export const addList = (quarantine: Command): void => {
  quarantine
    .command('list')
    .description('the events that readers pass over, who decided it and why')
    .addHelpText('after', '\nExample:\n  ops quarantine list --json')
    .action(async (_: object, command: Command) => {
      const { quarantined, unreadable } = await withSession(async ({ store }) => {
        const register = await readQuarantines(store);
        return { quarantined: register.all(), unreadable: register.unreadable() };
      });
      const rows = quarantined.map((one) => [
        `${one.stream}@${one.revision}`,
        one.eventType,
        one.consumers?.join(' ') ?? 'every reader',
        one.by,
        one.at,
        one.until ?? '',
        one.reason,
        one.cause,
      ]);
      const head = ['event', 'type', 'passed over by', 'decided by', 'when', 'look again', 'why', 'cause'];
      const entries = unreadable.map(({ stream, revision, type }) => ({
        event: `${stream}@${revision}`,
        type,
      }));
      const text = [
        table(head, rows),
        ...entries.map(({ event, type }) => `${event} (${type}) is no decision and has no effect.`),
      ];
      print(command, { quarantined, unreadable: entries }, text.join('\n'));
    });
};
