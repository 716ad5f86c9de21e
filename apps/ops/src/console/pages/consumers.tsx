import { Count, Section, Table, Time } from '../../../../portal/src/frame/parts.js';
import { isProcess } from '../../commands/processes.js';
import { eventsBehind } from '../../commands/projections/look.js';
import type { Session } from '../../session.js';
import { LOOK_AGAIN, Mark, Said, Shows } from '../parts.js';
import { part, type ConsolePage, type ConsoleVisit } from '../visit.js';

export const consumersPage: ConsolePage = {
  area: 'consumers',
  show: async (visit) => {
    const { words, session, looks } = visit;
    const [lags, programs] = await Promise.all([
      part(visit, looks.lags),
      part(visit, () => programsAlive(session.pool)),
    ]);
    return {
      title: words.areas.consumers,
      refreshSeconds: LOOK_AGAIN,
      body: (
        <>
          <Section title={words.programs}>
            <Shows of={programs}>{(alive) => <Programs visit={visit} alive={alive} />}</Shows>
          </Section>
          <Section title={words.consumers}>
            <Shows of={lags}>
              {(found) => (
                <Table
                  caption={words.consumers}
                  rows={found}
                  empty={words.noConsumers}
                  columns={[
                    { head: words.consumer, cell: ({ consumer }) => <code>{consumer}</code> },
                    {
                      head: words.kind,
                      cell: (one) => words.kinds[isProcess(one) ? 'process' : 'projection'],
                    },
                    {
                      head: words.state,
                      cell: ({ status }) => (
                        <Mark visit={visit} of={status === 'running' ? 'consuming' : status} />
                      ),
                    },
                    { head: words.behind, isNumber: true, cell: eventsBehind },
                    { head: words.seconds, isNumber: true, cell: ({ seconds }) => <Count of={seconds} /> },
                    {
                      head: words.states.parked,
                      isNumber: true,
                      cell: (one) => <Count of={one.parkedStreams} />,
                    },
                    { head: words.position, isNumber: true, cell: ({ position }) => String(position ?? '') },
                    { head: words.error, cell: ({ error }) => <Said text={error ?? ''} /> },
                  ]}
                />
              )}
            </Shows>
          </Section>
        </>
      ),
    };
  },
};

interface Program {
  readonly role: string;
  readonly host: string;
  readonly ahead: number | null;
  readonly beatAt: Date;
}

/** What has beaten within the last hour (`platform.heartbeat`). */
const programsAlive = async (pool: Session['pool']): Promise<readonly Program[]> => {
  const { rows } = await pool.query<Program>(
    `select role, host, ahead_ms::float8 as ahead, beat_at as "beatAt" from platform.heartbeat
     order by role, host, instance limit 100`,
  );
  return rows;
};

const Programs = ({ visit: { words }, alive }: { visit: ConsoleVisit; alive: readonly Program[] }) => (
  <Table
    caption={words.programs}
    rows={alive}
    empty={words.noPrograms}
    columns={[
      { head: words.program, cell: ({ role }) => role },
      { head: words.host, cell: ({ host }) => host },
      { head: words.beat, cell: ({ beatAt }) => <Time at={beatAt.toISOString()} /> },
      { head: words.ahead, isNumber: true, cell: ({ ahead }) => ahead !== null && <Count of={ahead} /> },
    ]}
  />
);
