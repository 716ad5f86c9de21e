import {
  GetMonthlyStatement,
  type LedgerEntry,
  type MonthlyStatement,
} from '@app/billing/contracts/index.js';
import { csvRecord } from '@app/platform/text/csv.js';
import { notFound } from '../frame/api.js';
import type { Download, Page, View, Visit } from '../frame/page.js';
import { Count, Facts, Table, Time } from '../frame/parts.js';
import { named } from '../texts/texts.js';

/** The page shows the newest; the file has all. */
const SHOWN = 200;

/** A month with many readings takes a while to read: one statement at a time in each process. */
let current: Promise<unknown> = Promise.resolve();
const oneByOne = <T,>(work: () => Promise<T>): Promise<T> => {
  const next = current.then(work, work);
  current = next.catch(() => undefined);
  return next;
};

const read = async ({ api, queries, params, session }: Visit): Promise<MonthlyStatement> => {
  // Takes a token of the rate limit, as the statement itself has no route.
  await api.get('/credits');
  const period = params['period'] ?? '';
  const statement =
    session.mode === 'live' && /^\d{4}-(0[1-9]|1[0-2])$/.test(period)
      ? await oneByOne(() => queries.execute(new GetMonthlyStatement(session.workspaceId, period)))
      : null;
  if (statement) return statement;
  throw notFound();
};

const moved = ({ postings }: LedgerEntry, account: string): number =>
  postings.filter((one) => one.account === account).reduce((sum, { amount }) => sum + amount, 0);

export const statementPage: Page = {
  path: '/credits/statements/:period',
  area: 'credits',
  needs: 'credits:read',
  show: async (visit): Promise<View> => {
    const { texts } = visit;
    const statement = await read(visit);
    const { period, opening, closing, entries, closed } = statement;
    const said = texts.statement;
    return {
      title: said.title(period),
      body: (
        <>
          <Facts
            of={[
              [texts.readings.status, closed ? said.closed : said.open],
              [said.opening, <Count of={opening.available} />],
              [said.closing, <Count of={closing.available} />],
              [said.held, <Count of={closing.held} />],
            ]}
          />
          <p>
            <a href={`${visit.path}/csv`}>{said.csv}</a>
          </p>
          {entries.length > SHOWN && <p class="soft">{said.newest(visit.formats.number(SHOWN))}</p>}
          <Table
            caption={said.title(period)}
            rows={entries.slice(-SHOWN).toReversed()}
            empty={texts.none}
            columns={[
              { head: said.movement, cell: ({ type }) => named(texts.movements, type) },
              { head: texts.reading.when, cell: ({ occurredAt }) => <Time at={occurredAt} /> },
              { head: said.available, isNumber: true, cell: (one) => <Count of={moved(one, 'available')} /> },
              { head: said.held, isNumber: true, cell: (one) => <Count of={moved(one, 'held')} /> },
              {
                head: said.after,
                isNumber: true,
                cell: ({ availableAfter }) => <Count of={availableAfter} />,
              },
              {
                head: texts.readings.id,
                cell: ({ readingId, reference }) =>
                  readingId ? (
                    <a href={`/portal/readings/${readingId}`}>{readingId.slice(0, 8)}</a>
                  ) : (
                    reference
                  ),
              },
            ]}
          />
        </>
      ),
    };
  },
};

/** Every movement of the month, oldest first, as `ledger statement` has them. Its names are those of the ledger. */
export const statementFilePage: Page = {
  path: '/credits/statements/:period/csv',
  area: 'credits',
  needs: 'credits:read',
  show: async (visit): Promise<Download> => {
    const { period, entries } = await read(visit);
    const head = [
      'occurredAt',
      'type',
      'available',
      'held',
      'availableAfter',
      'heldAfter',
      'readingId',
      'reference',
    ];
    const rows = entries.map((one) => [
      one.occurredAt,
      one.type,
      moved(one, 'available'),
      moved(one, 'held'),
      one.availableAfter,
      one.heldAfter,
      one.readingId ?? '',
      one.reference ?? '',
    ]);
    return {
      bytes: Buffer.from([head, ...rows].map(csvRecord).join('')),
      mediaType: 'text/csv; charset=utf-8',
      fileName: `statement-${period}.csv`,
    };
  },
};
