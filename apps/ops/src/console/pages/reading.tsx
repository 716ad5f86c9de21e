import { Filters, Text } from '../../../../portal/src/frame/forms.js';
import { Count, Section, Table, Time } from '../../../../portal/src/frame/parts.js';
import { named } from '../../../../portal/src/texts/texts.js';
import { aboutReading } from '../../commands/events/about-reading.js';
import { kindOf, tellStory } from '../../commands/events/story.js';
import { Mark, Shows } from '../parts.js';
import { StoryDrawing, causeOf } from '../story-drawing.js';
import { part, type ConsolePage, type ConsoleVisit } from '../visit.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Types, times, ids and places of events: never what they hold. */
export const readingPage: ConsolePage = {
  area: 'reading',
  show: async (visit) => {
    const { words, query, session } = visit;
    const id = (query.get('reading') ?? '').trim().toLowerCase();
    const found = UUID.test(id) ? await part(visit, () => aboutReading(session, id)) : null;
    return {
      title: words.areas.reading,
      body: (
        <>
          <Filters>
            <Text name="reading" label={words.readingId} value={id} required />
          </Filters>
          {found === null && id !== '' && <p class="empty">{words.noReading}</p>}
          {found && <Shows of={found}>{(about) => <Story visit={visit} about={about} />}</Shows>}
        </>
      ),
    };
  },
};

const Story = ({
  visit,
  about: { events, deliveries },
}: {
  readonly visit: ConsoleVisit;
  readonly about: Awaited<ReturnType<typeof aboutReading>>;
}) => {
  const { words } = visit;
  const story = tellStory(events);
  if (story.length === 0) return <p class="empty">{words.noReading}</p>;
  return (
    <>
      <Section title={words.story}>
        <p class="soft">{words.drawing}</p>
        <StoryDrawing
          label={words.drawing}
          story={story}
          deliveries={deliveries}
          inWords={(status) => named(words.states, status)}
        />
        <Table
          caption={words.events}
          rows={story}
          empty={words.noReading}
          columns={[
            { head: words.type, cell: ({ type }) => type },
            {
              head: words.event,
              cell: ({ stream, revision }) => <code class="address">{`${stream}@${revision}`}</code>,
            },
            { head: words.position, isNumber: true, cell: ({ position }) => String(position) },
            { head: words.when, cell: ({ occurredAt }) => <Time at={occurredAt} /> },
            { head: words.after, isNumber: true, cell: ({ afterMs }) => <Count of={afterMs} /> },
            // Of a caller only the kind: the name in a bearer token may be a person's.
            { head: words.by, cell: ({ actor }) => kindOf(actor) },
            { head: words.causedBy, cell: ({ cause }) => cause.type ?? <code>{cause.id}</code> },
          ]}
        />
      </Section>
      <Section title={words.deliveries}>
        <Table
          caption={words.deliveries}
          rows={deliveries}
          empty={words.noDeliveries}
          columns={[
            { head: words.type, cell: ({ eventType }) => eventType },
            { head: words.causedBy, cell: (delivery) => causeOf(story, delivery)?.type },
            { head: words.endpoint, cell: ({ endpointId }) => <code class="address">{endpointId}</code> },
            { head: words.state, cell: ({ status }) => <Mark visit={visit} of={status} /> },
            { head: words.attempts, isNumber: true, cell: ({ attempts }) => <Count of={attempts} /> },
            { head: words.when, cell: ({ settledAt }) => <Time at={settledAt} /> },
          ]}
        />
      </Section>
    </>
  );
};
