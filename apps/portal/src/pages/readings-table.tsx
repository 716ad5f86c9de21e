import type { ReadingSummary } from '@reading-service/client';
import { useVisit } from '../frame/context.js';
import { State, Table, Time } from '../frame/parts.js';

/** Readings as every list of them shows them. */
export const ReadingsTable = ({
  caption,
  rows,
}: {
  readonly caption: string;
  readonly rows: readonly ReadingSummary[];
}) => {
  const { texts, formats, query } = useVisit();
  const { readings } = texts;
  return (
    <Table
      caption={caption}
      rows={rows}
      empty={query.size > 0 ? texts.nothingFound : readings.empty}
      columns={[
        {
          head: readings.id,
          cell: ({ readingId }) => (
            <a href={`/portal/readings/${readingId}`}>
              <code>{readingId}</code>
            </a>
          ),
        },
        {
          head: readings.status,
          cell: (one) => <State of={one.erasedAt === null ? one.status : 'erased'} />,
        },
        { head: readings.locale, cell: ({ locale }) => texts.locales[locale] },
        { head: readings.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          head: readings.document,
          cell: ({ document: { version } }) =>
            version === null ? (
              <span class="soft">{texts.none}</span>
            ) : (
              readings.version(formats.number(version))
            ),
        },
      ]}
    />
  );
};
