import type { DeliveryPage } from '@reading-service/client';
import { DELIVERY_STATUSES, NOTICE_TYPES, PUBLIC_EVENT_TYPES } from '#webhooks/contracts/index.js';
import { Choice, Filters, Text } from '../../frame/forms.js';
import type { Visit } from '../../frame/page.js';
import { Pager, State, Table, Time } from '../../frame/parts.js';
import { named } from '../../texts/texts.js';
import { AttemptOutcome } from './attempt-outcome.js';

const ROWS = 25;
const UNDELIVERED = 'undelivered';

export const findDeliveries = ({ api, query }: Visit, endpointId: string): Promise<DeliveryPage> => {
  const status = query.get('status') ?? '';
  return api.get(`/webhooks/${encodeURIComponent(endpointId)}/deliveries`, {
    limit: ROWS,
    ...(status === UNDELIVERED ? { undelivered: 'true' } : { status }),
    type: query.get('type') ?? '',
    readingId: query.get('readingId') ?? '',
    cursor: query.get('cursor') ?? '',
  });
};

/** The deliveries of an endpoint, with filters. */
export const Deliveries = ({
  visit: { texts, query },
  endpointId,
  page,
}: {
  readonly visit: Visit;
  readonly endpointId: string;
  readonly page: DeliveryPage;
}) => {
  const { deliveries, states, eventTypes } = texts;
  return (
    <>
      <Filters>
        <Choice
          name="status"
          label={deliveries.status}
          value={query.get('status') ?? ''}
          options={[
            ['', texts.all],
            ...DELIVERY_STATUSES.map((status) => [status, states[status]] as const),
            [UNDELIVERED, deliveries.undelivered],
          ]}
        />
        <Choice
          name="type"
          id="filter-type"
          label={deliveries.type}
          value={query.get('type') ?? ''}
          options={[
            ['', texts.all],
            ...[...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES].map((type) => [type, eventTypes[type]] as const),
          ]}
        />
        <Text name="readingId" label={deliveries.readingId} value={query.get('readingId') ?? ''} />
      </Filters>
      <Table
        caption={deliveries.caption}
        rows={page.data}
        empty={query.size > 0 ? texts.nothingFound : deliveries.empty}
        columns={[
          {
            head: deliveries.event,
            cell: ({ deliveryId, type }) => (
              <a href={`/portal/webhooks/${endpointId}/deliveries/${deliveryId}`}>
                {named(eventTypes, type)}
              </a>
            ),
          },
          { head: deliveries.status, cell: ({ status }) => <State of={status} /> },
          { head: deliveries.attempts, cell: ({ attempts }) => attempts, isNumber: true },
          {
            head: deliveries.last,
            cell: ({ lastAttempt, status }) => (
              <AttemptOutcome of={lastAttempt} mayCome={status === 'pending'} />
            ),
          },
          { head: deliveries.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
      <Pager next={page.nextCursor} />
    </>
  );
};
