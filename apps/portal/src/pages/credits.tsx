import {
  GetMonthMovements,
  LONGEST_TYPESET,
  TypesetCustomerStatement,
  type LedgerEntry,
  type MonthMovements,
  READING_COST,
} from '#billing/contracts/index.js';
import { LanesFull, Lines } from '#platform/work/lanes.js';
import { csvRecord } from '#platform/text/csv.js';
import { GetPaper, GetWorkspace } from '#workspaces/contracts/index.js';
import { refusal } from '../frame/api.js';
import type { Download, Page, View, Visit } from '../frame/page.js';
import { Count, Facts, Table, Time, Section } from '../frame/parts.js';
import { named } from '../texts/texts.js';
import { ReadingLink, readingsByDay } from './readings.js';
import type { Credits } from '@reading-service/client';

/** The page shows the newest; the file has all. */
const SHOWN = 200;

/** What printers hold where the language is read. */
const USUAL_PAPER = { fr: 'a4', en: 'us-letter' } as const;

/** Movements of a file that count as one request: they take 5 ms of CPU. */
const MOVEMENTS_A_REQUEST = 100;

/** A month with many readings takes a while to read: one statement at a time in each process, two of a workspace. */
const ofProcess = new Lines(8);
const ofWorkspaces = new Lines(2);

/** Too many ask at once for what takes some seconds. */
const busy = () => refusal(503, 'http_503', { retryAfter: 5 });

/** The answer of a query for the month of the page, in its turn. @throws ApiProblem */
const inTurn = async <T,>(
  { api, params, session }: Visit,
  find: (workspaceId: string, period: string) => Promise<T | null>,
): Promise<T> => {
  // Takes a token of the rate limit, as the statement itself has no route.
  await api.get('/credits');
  const period = params['period'] ?? '';
  if (session.mode !== 'live' || !/^\d{4}-(0[1-9]|1[0-2])$/.test(period)) throw refusal(404, 'not_found');
  const { workspaceId } = session;
  try {
    const found = await ofWorkspaces.run(workspaceId, () =>
      ofProcess.run('all', async () => {
        await api.requireStanding();
        return find(workspaceId, period);
      }),
    );
    await api.requireStanding();
    if (found !== null) return found;
  } catch (error) {
    throw error instanceof LanesFull ? busy() : error;
  }
  throw refusal(404, 'http_404');
};

/** The month for a file, paid for by its size. @throws ApiProblem */
const charged = async (visit: Visit, most = Infinity): Promise<MonthMovements> => {
  const month = await inTurn(visit, (...of) => visit.queries.execute(new GetMonthMovements(...of)));
  if (month.count === 0) throw refusal(404, 'http_404');
  if (month.count > most) throw refusal(422, 'http_422');
  await visit.charge(Math.ceil(month.count / MOVEMENTS_A_REQUEST));
  return month;
};

const moved = ({ postings }: LedgerEntry, account: string): number =>
  postings.filter((one) => one.account === account).reduce((sum, { amount }) => sum + amount, 0);

export const statementPage: Page = {
  path: '/credits/statements/:period',
  area: 'credits',
  needs: 'credits:read',
  show: async (visit): Promise<View> => {
    const { texts } = visit;
    const period = visit.params['period']!;
    const { opening, closing, closed, count, entries } = await inTurn(visit, async (...of) => {
      const month = await visit.queries.execute(new GetMonthMovements(...of));
      return month && { ...month, entries: await month.newest(SHOWN) };
    });
    const said = texts.statement;
    const title = said.title(visit.formats.month(period));
    return {
      title,
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
            <a href={`${visit.path}/csv`}>{said.csv}</a> · <a href={`${visit.path}/pdf`}>{said.pdf}</a>
          </p>
          {count > SHOWN && <p class="soft">{said.newest(visit.formats.number(SHOWN))}</p>}
          <Table
            caption={title}
            rows={entries}
            empty={texts.none}
            columns={[
              [said.movement, ({ type }) => named(texts.movements, type)],
              [texts.reading.when, ({ occurredAt }) => <Time at={occurredAt} />],
              [texts.overview.available, (one) => <Count of={moved(one, 'available')} />, 'number'],
              [said.held, (one) => <Count of={moved(one, 'held')} />, 'number'],
              [said.after, ({ availableAfter }) => <Count of={availableAfter} />, 'number'],
              [
                said.about,
                ({ readingId, reference }) =>
                  readingId ? <ReadingLink of={readingId} isShort /> : reference,
              ],
            ]}
          />
        </>
      ),
    };
  },
};

/** What a file has of each movement, by the names of the ledger. */
const COLUMNS: Readonly<Record<string, (one: LedgerEntry) => string | number>> = {
  occurredAt: (one) => one.occurredAt,
  type: (one) => one.type,
  available: (one) => moved(one, 'available'),
  held: (one) => moved(one, 'held'),
  availableAfter: (one) => one.availableAfter,
  heldAfter: (one) => one.heldAfter,
  readingId: (one) => one.readingId ?? '',
  reference: (one) => one.reference ?? '',
};

/** Lines of a file that are sent together. */
const PART = 256;

async function* csv(entries: AsyncIterable<LedgerEntry>): AsyncGenerator<string> {
  let lines = [csvRecord(Object.keys(COLUMNS))];
  for await (const one of entries) {
    lines.push(csvRecord(Object.values(COLUMNS).map((column) => column(one))));
    if (lines.length < PART) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}

/** Every movement of the month, oldest first, as `ledger statement` has them. Its names are those of the ledger. */
export const statementFilePage: Page = {
  path: '/credits/statements/:period/csv',
  area: 'credits',
  needs: 'credits:read',
  show: async (visit): Promise<Download> => ({
    content: csv((await charged(visit)).entries),
    mediaType: 'text/csv; charset=utf-8',
    fileName: `statement-${visit.params['period']}.csv`,
  }),
};

/** The month to print, in the person's language and on the workspace's paper. */
export const statementPdfPage: Page = {
  path: '/credits/statements/:period/pdf',
  area: 'credits',
  needs: 'credits:read',
  show: async (visit): Promise<Download> => {
    const { queries, session, params } = visit;
    const { language, workspaceId } = session;
    await charged(visit, LONGEST_TYPESET);
    const pdf = await inTurn(visit, async (...of) => {
      const [workspace, chosen] = await Promise.all([
        queries.execute(new GetWorkspace(workspaceId)),
        queries.execute(new GetPaper(workspaceId)),
      ]);
      const paper = chosen === 'by-locale' ? USUAL_PAPER[language] : chosen;
      const print = { language, paper, workspaceName: workspace?.name ?? null };
      const printed = await queries.execute(new TypesetCustomerStatement(...of, print));
      if (printed.outcome === 'busy') throw busy();
      return printed.outcome === 'printed' ? printed.pdf : null;
    });
    return {
      content: Buffer.from(pdf.buffer, pdf.byteOffset, pdf.length),
      mediaType: 'application/pdf',
      fileName: `statement-${params['period']}.pdf`,
    };
  },
};

/** Months whose statements the page offers. */
const MONTHS = 12;

/** `yyyy-mm`, the newest first, from the one in which the workspace was opened. */
const lastMonths = (openedAt: string): readonly string[] => {
  const now = new Date();
  const months = Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
  return months.filter((month) => month >= openedAt.slice(0, 7));
};

export const creditsPage: Page = {
  path: '/credits',
  area: 'credits',
  needs: 'credits:read',
  show: async (visit) => {
    const { texts, formats, api, queries, session } = visit;
    const [credits, days, workspace] = await Promise.all([
      api.get<Credits>('/credits'),
      readingsByDay(visit),
      session.mode === 'live' ? queries.execute(new GetWorkspace(session.workspaceId)) : null,
    ]);
    return {
      title: texts.areas.credits,
      body: (
        <>
          <Facts
            of={[
              [texts.overview.available, <Count of={credits.available} />],
              [texts.overview.reserved, <Count of={credits.reserved} />],
              [texts.credits.forecast, forecast(visit, credits.available, days)],
            ]}
          />
          <Section title={texts.credits.grants}>
            <Table
              caption={texts.credits.grantsCaption}
              rows={credits.grants}
              empty={texts.credits.noGrants}
              columns={[
                [texts.credits.kind, ({ kind }) => named(texts.credits.kinds, kind)],
                [texts.credits.granted, (grant) => <Count of={grant.credits} />, 'number'],
                [texts.credits.left, ({ remaining }) => <Count of={remaining} />, 'number'],
                [texts.reading.expires, ({ expiresAt }) => <Time at={expiresAt} />],
              ]}
            />
          </Section>
          {session.mode === 'live' && (
            <Section title={texts.credits.statements}>
              <ul class="actions">
                {lastMonths(workspace?.openedAt ?? '').map((month) => (
                  <li>
                    <a href={`/portal/credits/statements/${month}`}>{formats.month(month)}</a>
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </>
      ),
    };
  },
};

/** When the credits run out if the readings of the last days go on. */
const forecast = (
  { texts, formats }: Visit,
  available: number,
  days: readonly { readonly readings: number }[],
): string => {
  const spent = days.reduce((sum, { readings }) => sum + readings, 0) * READING_COST;
  if (spent === 0) return texts.credits.noForecast;
  const left = Math.floor(available / (spent / days.length));
  return available < READING_COST ? texts.credits.tooFew : texts.credits.lasts(formats.days(left));
};
