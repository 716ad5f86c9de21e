import type { DeliveryHistory, WebhookEndpoint } from '@reading-service/client';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { printableLines } from '#platform/text/printable.js';
import { GetExternalId } from '#readings/contracts/index.js';
import {
  type AnsweredDelivery,
  FindAnsweredDelivery,
  FindToldEvent,
  type ToldEvent,
} from '#webhooks/contracts/index.js';
import { unlessAway } from '../../frame/api.js';
import { PostForm } from '../../frame/forms.js';
import { type Page, type Visit, usePortal, useVisit } from '../../frame/page.js';
import { Away, Body, Count, Facts, Section, State, Table, Time } from '../../frame/parts.js';
import { named } from '../../texts/texts.js';
import { ReadingLink } from '../readings.js';
import { AttemptOutcome, EndpointLink, endpointPage, endpointPath, NextAttempt } from './endpoint.js';

/** Whether the session sees `null` in place of the external id. */
const hidesId = ({ showsExternalId, readingId }: ToldEvent, { may }: Visit): boolean =>
  showsExternalId && readingId !== null && !may(PERSONS_SCOPE);

/**
 * The body that deliveries of an event carry. Its external id is personal: without the scope for persons, it is `null`
 * here, as after an erasure.
 */
const toldBody = async (
  { body, readingId, showsExternalId }: ToldEvent,
  { queries, may }: Visit,
): Promise<string> => {
  if (!showsExternalId || readingId === null) return body;
  const externalId = may(PERSONS_SCOPE) ? await queries.execute(new GetExternalId(readingId)) : null;
  return `${body.slice(0, -1)},"externalId":${JSON.stringify(externalId)}}`;
};

const LOOK_AGAIN = 5;

const pathOf = (visit: Visit): string =>
  `${endpointPath(visit)}/deliveries/${encodeURIComponent(visit.params['deliveryId']!)}`;

export const deliveryPage: Page = {
  path: '/webhooks/:endpointId/deliveries/:deliveryId',
  area: 'webhooks',
  needs: 'webhooks:read',
  show: async (visit, failed) => {
    const { texts, may, api, queries, session } = visit;
    const delivery = await api.personal<DeliveryHistory>(pathOf(visit));
    const [endpoint, told, answered] = await Promise.all([
      api.get<WebhookEndpoint>(endpointPath(visit)),
      queries.execute(new FindToldEvent(session.workspaceId, session.mode, delivery.eventId)),
      // The API has let the session see this delivery. Answers may repeat what the receiver knows of a person.
      may(PERSONS_SCOPE) ? unlessAway(queries.execute(new FindAnsweredDelivery(delivery.deliveryId))) : null,
    ]);
    const body = told && (await unlessAway(toldBody(told, visit)));
    return {
      title: texts.pair(texts.delivery.title, named(texts.eventTypes, delivery.type)),
      refreshSeconds: delivery.status === 'pending' && !failed ? LOOK_AGAIN : undefined,
      body: (
        <>
          <EndpointLink to={endpoint} />
          <DeliveryFacts delivery={delivery} endpoint={endpoint} />
          {may('webhooks:write') && <PostForm action="redeliver" submit={texts.delivery.redeliver} />}
          <Section title={texts.delivery.attempts}>
            <Attempts delivery={delivery} />
            {delivery.history.some(({ error }) => error !== null) && <Answers of={answered} />}
          </Section>
          <Section title={texts.delivery.request}>
            <p>
              <code>{`POST ${endpoint.url}`}</code>
            </p>
            <h3>{texts.delivery.body}</h3>
            {told === null && <p class="empty">{texts.delivery.noBody}</p>}
            {told && (body === null ? <Away /> : <Body text={body} hides={hidesId(told, visit)} />)}
          </Section>
        </>
      ),
    };
  },
  actions: {
    redeliver: async (visit, form) => {
      const { deliveryId } = await visit.api.post<{ readonly deliveryId: string }>(
        `${pathOf(visit)}/redeliver`,
        {},
        form.key,
      );
      return { goTo: `${endpointPage(visit)}/deliveries/${deliveryId}`, done: 'redelivering' };
    },
  },
};

const markOf = ({ delivery: said }: Visit['texts'], delivery: DeliveryHistory): string => {
  if (delivery.test) return said.trial;
  if (delivery.replayId !== null) return said.replayed;
  return delivery.redelivery ? said.redelivery : said.first;
};

const DeliveryFacts = ({
  delivery,
  endpoint,
}: {
  readonly delivery: DeliveryHistory;
  readonly endpoint: WebhookEndpoint;
}) => {
  const { texts, may } = usePortal();
  return (
    <Facts
      of={[
        [texts.deliveries.status, <State of={delivery.status} />],
        [texts.delivery.mark, markOf(texts, delivery)],
        [
          texts.reading.event,
          may('events:read') ? (
            <a href={`/portal/events/${delivery.eventId}`}>
              <code>{delivery.eventId}</code>
            </a>
          ) : (
            <code>{delivery.eventId}</code>
          ),
        ],
        delivery.readingId !== null && [texts.readings.id, <ReadingLink of={delivery.readingId} />],
        [texts.webhooks.created, <Time at={delivery.createdAt} />],
        delivery.status === 'pending'
          ? [texts.endpoint.nextAttempt, <NextAttempt at={delivery.nextAttemptAt} of={endpoint} />]
          : [texts.delivery.settled, <Time at={delivery.settledAt} />],
      ]}
    />
  );
};

const Attempts = ({ delivery }: { readonly delivery: DeliveryHistory }) => {
  const { delivery: said } = useVisit().texts;
  return (
    <Table
      caption={said.attempts}
      rows={delivery.history}
      empty={said.attemptsEmpty}
      columns={[
        [said.number, ({ number }) => <Count of={number} />],
        [said.started, ({ startedAt }) => <Time at={startedAt} />],
        [said.duration, ({ durationMs }) => <Count of={durationMs} />, 'number'],
        [said.outcome, (attempt) => <AttemptOutcome of={attempt} />],
      ]}
    />
  );
};

/** What the receiver said to failed attempts, as text: it may hold anything. */
const Answers = ({ of }: { readonly of: AnsweredDelivery | null }) => {
  const { texts, may } = usePortal();
  const { delivery: said } = texts;
  const answered = of?.history.filter(({ answer }) => answer !== null) ?? [];
  return (
    <>
      {answered.map(({ number, answer }) => (
        <details>
          <summary>{said.answerTo(String(number))}</summary>
          <pre tabIndex={0}>
            <code dir="auto">{printableLines(answer!)}</code>
          </pre>
        </details>
      ))}
      <p class="hint">{may(PERSONS_SCOPE) ? said.answerHint : said.answerHidden}</p>
    </>
  );
};
