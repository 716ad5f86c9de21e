import { InvalidArgumentError, type Command } from 'commander';
import ipaddr from 'ipaddr.js';
import { instant } from '#event-sourcing/core/clock.js';
import type { AuditRecord } from '#platform/audit/audit-records.js';
import { AuditRecords, type AuditFilter } from '#platform/audit/audit-records.js';
import { isUuid } from '#platform/text/uuid.js';
import { type Columns, OpsError, print, tableOf } from '../output.js';
import { withSession } from '../session.js';
import { example, parseInstant, parseUuid, wholeNumber } from './options.js';

interface Options {
  readonly reading?: string;
  readonly key?: string;
  readonly subject?: string;
  readonly workspace?: string;
  readonly address?: string;
  readonly since?: number;
  readonly until?: number;
  readonly refused?: true;
  readonly personal?: true;
  readonly limit: number;
  readonly before?: NonNullable<AuditFilter['before']>;
}

const addAuditCommand = (audit: Command): void => {
  audit
    .option('--reading <id>', 'requests that named this reading, including its creation', parseUuid)
    .option('--key <id>', 'requests with this API key', parseKey)
    .option('--subject <name>', 'requests with bearer tokens of this subject')
    .option('--workspace <id>', 'requests of this workspace')
    .option('--address <address>', 'requests from this address or network', parseAddress)
    .option('--since <instant>', 'at this time or later', parseInstant)
    .option('--until <instant>', 'before this time', parseInstant)
    .option('--personal', 'only reads of personal data')
    .option('--refused', 'only refused requests')
    .option('--limit <n>', 'at most this many', wholeNumber, 100)
    .option('--before <cursor>', 'the value of `next` in the previous page', parseCursor)
    .addHelpText('after', example('audit --reading 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11 --personal'))
    .action(async ({ reading, key, subject, workspace, ...options }: Options, command: Command) => {
      if (key !== undefined && subject !== undefined)
        throw new OpsError('Choose --key or --subject, not both.');
      const actor = key === undefined ? subject && `user:${subject}` : `apiKey:${key}`;
      const filter: AuditFilter = {
        ...options,
        limit: options.limit + 1,
        ...(reading !== undefined && { readingId: reading }),
        ...(actor !== undefined && { actor }),
        ...(workspace !== undefined && { workspaceId: workspace }),
      };
      const [found, lost] = await withSession(({ pool }) => {
        const records = new AuditRecords(pool);
        return Promise.all([records.find(filter), records.losses(filter)]);
      });
      const shown = found.slice(0, options.limit);
      const last = found.length > options.limit ? shown.at(-1) : undefined;
      const next = last ? `${instant(last.at)},${last.requestId}` : null;
      const records = shown.map(({ at, requestId, ...record }) => {
        return { at: instant(at), requestId: `req_${requestId}`, ...record };
      });
      const losses = lost.map(({ since, until, requests }) => {
        return { since: instant(since), until: instant(until), requests };
      });
      const text = [
        records.length === 0 ? 'No records found.' : tableOf(records, COLUMNS),
        ...losses.map(
          ({ since, until, requests }) =>
            `Incomplete: from ${since} to ${until}, ${requests} requests of some callers were not recorded.`,
        ),
        ...(next ? [`More: --before ${next}`] : []),
      ];
      print(command, { records, next, losses }, text);
    });
};

const COLUMNS: Columns<Omit<AuditRecord, 'at'> & { readonly at: string }> = {
  at: 'at',
  status: 'status',
  request: ({ method, route }) => `${method} ${route}`,
  caller: 'actor',
  workspace: 'workspaceId',
  address: 'address',
  reading: 'readingId',
  personal: ({ personal }) => (personal ? 'yes' : ''),
  count: 'requests',
  id: 'requestId',
};

function parseKey(text: string): string {
  const [, id] = /^(?:ek_(?:live|test)_)?([0-9A-Za-z]{8})$/.exec(text) ?? [];
  if (id === undefined)
    throw new InvalidArgumentError('must be the 8-character id of a key, never the key itself');
  return id;
}

function parseAddress(text: string): string {
  if (!ipaddr.isValid(text) && !ipaddr.isValidCIDR(text)) {
    throw new InvalidArgumentError('must be an address, or a network such as 203.0.113.0/24');
  }
  return text.includes('/') ? text : ipaddr.process(text).toString();
}

function parseCursor(text: string): NonNullable<AuditFilter['before']> {
  const [at = '', requestId = ''] = text.split(',');
  if (Number.isNaN(Date.parse(at)) || !isUuid(requestId)) {
    throw new InvalidArgumentError('must be a cursor that ops audit printed');
  }
  return { at: Date.parse(at), requestId };
}

export const commands = { audit: addAuditCommand };
