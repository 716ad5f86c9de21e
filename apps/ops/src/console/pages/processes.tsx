import { stoppedStreams, type StoppedStream } from '#event-sourcing/parking/parked-streams.js';
import { isDependencyAway } from '#event-sourcing/store/dependency-away.js';
import { unavailable } from '../../../../portal/src/frame/api.js';
import type { Form } from '../../../../portal/src/frame/form.js';
import { PostForm } from '../../../../portal/src/frame/forms.js';
import { Section, Table, Time } from '../../../../portal/src/frame/parts.js';
import { retryStopped } from '../../commands/parked/retry.js';
import { OpsError } from '../../ops-error.js';
import { LOOK_AGAIN, Mark, Said, Shows } from '../parts.js';
import { part, type ConsolePage, type ConsoleVisit, type Done } from '../visit.js';

/** Rows of each table. */
const SHOWN = 50;
/** How long a page waits for the worker of a process (s). */
const WAIT_SECONDS = 5;

export const processesPage: ConsolePage = {
  area: 'processes',
  show: async (visit, failed) => {
    const { words, session } = visit;
    const stopped = await part(visit, () => stoppedStreams(session.pool));
    return {
      title: words.areas.processes,
      refreshSeconds: failed ? undefined : LOOK_AGAIN,
      body: (
        <Section title={words.stopped}>
          <Shows of={stopped}>{(found) => <Stopped visit={visit} stopped={found} />}</Shows>
        </Section>
      ),
    };
  },
  actions: {
    retry: (visit, form) => visit.looks.once(form.key, () => retry(visit, form)),
  },
};

const retry = async ({ session }: ConsoleVisit, form: Form): Promise<Done> => {
  const [consumer = '', stream = ''] = form.text('about').split(' ');
  try {
    const { left } = await retryStopped(session, { consumer, stream }, WAIT_SECONDS);
    return left.length === 0 ? 'handled' : 'stillStopped';
  } catch (error) {
    if (error instanceof OpsError) return 'notStopped';
    if (isDependencyAway(error)) throw unavailable();
    throw error;
  }
};

const Stopped = ({ visit, stopped }: { visit: ConsoleVisit; stopped: readonly StoppedStream[] }) => {
  const { words } = visit;
  return (
    <>
      {stopped.length > SHOWN && <p>{words.stoppedHint}</p>}
      <Table
        caption={words.stopped}
        rows={stopped.slice(0, SHOWN)}
        empty={words.nothingStopped}
        columns={[
          {
            head: words.consumer,
            cell: ({ consumer, state }) => (
              <>
                <code class="address">{consumer}</code> <Mark visit={visit} of={state} />
              </>
            ),
          },
          {
            head: words.stream,
            cell: ({ stream, cause }) => (
              <>
                <code class="address">{stream}</code>
                <span class="soft">{visit.texts.pair(words.cause, cause)}</span>
              </>
            ),
          },
          {
            head: words.error,
            isLong: true,
            cell: ({ error, since }) => (
              <>
                <Time at={since.toISOString()} /> <Said text={error} />
              </>
            ),
          },
          {
            head: words.retry,
            isLong: true,
            cell: ({ consumer, stream }) => (
              <PostForm action="retry" about={`${consumer} ${stream}`} submit={words.retry} />
            ),
          },
        ]}
      />
    </>
  );
};
