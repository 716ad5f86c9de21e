import type { LedgerVerification } from '#billing/contracts/index.js';
import { Count, Facts, Section, Table, Time } from '../../../../portal/src/frame/parts.js';
import type { Session } from '../../session.js';
import { LOOK_SOON, RunPart, Said, Shows } from '../parts.js';
import { part, type ConsolePage, type ConsoleVisit } from '../visit.js';

/** Findings of a verification that the page lists. The command has all. */
const SHOWN = 50;

export const ledgerPage: ConsolePage = {
  area: 'ledger',
  show: async (visit) => {
    const { words, session, looks } = visit;
    const [books, last] = await Promise.all([
      part(visit, () => monthsOf(session.pool)),
      part(visit, () => lastReconciliation(session.pool)),
    ]);
    return {
      title: words.areas.ledger,
      refreshSeconds: looks.verification.state.is === 'running' ? LOOK_SOON : undefined,
      body: (
        <>
          <Section title={words.months}>
            <Shows of={books}>{(found) => <Months visit={visit} months={found} />}</Shows>
          </Section>
          <Section title={words.reconciliation}>
            <Shows of={last}>{(found) => <Reconciled visit={visit} last={found} />}</Shows>
          </Section>
          <Section title={words.verification}>
            <p class="soft">{words.verifyHint}</p>
            <RunPart visit={visit} run={looks.verification} action="verify" submit={words.verify}>
              {(result) => <Verified visit={visit} result={result} />}
            </RunPart>
          </Section>
        </>
      ),
    };
  },
  actions: {
    verify: async ({ looks }) => {
      looks.verification.start();
      return null;
    },
  },
};

interface Months {
  readonly books: number;
  /** The month (`yyyy-mm`) from which on a book is open; `null` without books, or while no row says. */
  readonly open: string | null;
  /** Books whose open month is over. */
  readonly due: number;
}

const monthsOf = async (pool: Session['pool']): Promise<Months> => {
  const { rows } = await pool.query<Months>(
    `select count(*)::int as books, min(agenda->>'period') as open,
            count(*) filter (where agenda->>'period' < to_char(now() at time zone 'utc', 'yyyy-mm'))::int as due
     from billing.balance`,
  );
  return rows[0]!;
};

const Months = ({
  visit: { words },
  months: { books, open, due },
}: {
  visit: ConsoleVisit;
  months: Months;
}) => (
  <>
    <Facts
      of={[
        [words.books, <Count of={books} />],
        [words.openMonth, open ?? words.never],
        [words.toClose, <Count of={due} />],
      ]}
    />
    {due > 0 && (
      <>
        <p>{words.closeWith}</p>
        <pre tabIndex={0} data-copy>
          {`ops ledger month --period ${open} --all --key seal-private.pem --out closings`}
        </pre>
      </>
    )}
    <p>{words.seals}</p>
    <pre tabIndex={0} data-copy>
      {'ops ledger verify-file --month yyyy-mm --public-key seal-public.pem'}
    </pre>
  </>
);

interface Reconciliation {
  readonly finishedAt: Date | null;
  readonly books: number | null;
  readonly differences: number | null;
  readonly pending: number | null;
}

const lastReconciliation = async (pool: Session['pool']): Promise<Reconciliation | null> => {
  const { rows } = await pool.query<Reconciliation>(
    `select finished_at as "finishedAt", books::float8, differences::float8, pending::float8
     from billing.reconciliation`,
  );
  return rows[0] ?? null;
};

const Reconciled = ({ visit: { words }, last }: { visit: ConsoleVisit; last: Reconciliation | null }) =>
  last === null ? (
    <p class="empty">{words.never}</p>
  ) : (
    <Facts
      of={[
        [words.ranAt, <Time at={last.finishedAt?.toISOString() ?? null} />],
        [words.books, <Count of={last.books ?? 0} />],
        [words.differences, <Count of={last.differences ?? 0} />],
        [words.pending, <Count of={last.pending ?? 0} />],
      ]}
    />
  );

const Verified = ({ visit: { words }, result }: { visit: ConsoleVisit; result: LedgerVerification }) => {
  const { books, corrections } = result;
  const found = [
    ...books.flatMap(({ workspaceId, findings }) =>
      findings.map(({ revision, message }) => ({ place: `credits-${workspaceId}@${revision}`, message })),
    ),
    ...corrections.map(({ stream, revision, message }) => ({ place: `${stream}@${revision}`, message })),
  ];
  return (
    <>
      <Facts
        of={[
          [words.books, <Count of={books.length} />],
          [words.events, <Count of={books.reduce((sum, { events }) => sum + events, 0)} />],
          [words.findings, <Count of={found.length} />],
        ]}
      />
      <Table
        caption={words.findings}
        rows={found.slice(0, SHOWN)}
        empty={words.allVerified}
        columns={[
          { head: words.event, cell: ({ place }) => <code class="address">{place}</code> },
          { head: words.finding, cell: ({ message }) => <Said text={message} />, isLong: true },
        ]}
      />
    </>
  );
};
