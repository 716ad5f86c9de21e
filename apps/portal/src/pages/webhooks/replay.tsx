import type { Replay, WebhookEndpoint } from '@reading-service/client';
import { PUBLIC_EVENT_TYPES, REPLAYABLE_STATUSES, UNDELIVERED_STATUSES } from '#webhooks/contracts/index.js';
import { Checks, PostForm, Text } from '../../frame/forms.js';
import { type Page, type Visit, usePortal, useVisit } from '../../frame/page.js';
import { Count, Facts, State, Time } from '../../frame/parts.js';
import { instantOf } from '../../frame/form.js';
import { EndpointLink, endpointPage, endpointPath } from './endpoint.js';

const LOOK_AGAIN = 2;
const A_DAY_MS = 86_400_000;
/** Of an instant, what a field for minutes takes. */
const MINUTES = 'YYYY-MM-DDTHH:MM'.length;

const start = async (visit: Visit, choice: object, key: string) => {
  const { replayId } = await visit.api.post<Replay>(`${endpointPath(visit)}/replay`, choice, key);
  return { goTo: `${endpointPage(visit)}/replays/${replayId}` };
};

export const replayPage: Page = {
  path: '/webhooks/:endpointId/replay',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit) => {
    const { texts, api } = visit;
    const { replay, eventTypes, replayable } = texts;
    const endpoint = await api.get<WebhookEndpoint>(endpointPath(visit));
    const since = new Date(Date.now() - A_DAY_MS).toISOString().slice(0, MINUTES);
    return {
      title: texts.endpoint.pages.replay,
      body: (
        <>
          <EndpointLink to={endpoint} />
          <p>{replay.hint}</p>
          <PostForm action="count" submit={replay.count}>
            <Text name="since" type="datetime-local" label={replay.since} value={since} required />
            <Text name="until" type="datetime-local" label={texts.keys.expiresUtc} hint={replay.untilHint} />
            <Checks
              name="types"
              label={texts.areas.events}
              values={endpoint.events}
              options={PUBLIC_EVENT_TYPES.map((type) => [type, eventTypes[type]])}
            />
            <Checks
              name="statuses"
              label={replay.statuses}
              values={UNDELIVERED_STATUSES}
              options={REPLAYABLE_STATUSES.map((status) => [status, replayable[status]])}
            />
          </PostForm>
        </>
      ),
    };
  },
  actions: {
    count: (visit, form) => {
      const until = form.text('until');
      const choice = {
        since: instantOf(form.text('since')),
        ...(until !== '' && { until: instantOf(until) }),
        types: form.all('types'),
        statuses: form.all('statuses'),
        dryRun: true,
      };
      return start(visit, choice, form.key);
    },
  },
};

const replayPath = (visit: Visit): string =>
  `${endpointPath(visit)}/replays/${encodeURIComponent(visit.params['replayId']!)}`;

const isUnderWay = ({ state }: Replay): boolean => state === 'queued' || state === 'running';

export const oneReplayPage: Page = {
  path: '/webhooks/:endpointId/replays/:replayId',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit, failed) => {
    const { texts, api } = visit;
    const replay = await api.get<Replay>(replayPath(visit));
    const waits = isUnderWay(replay) || replay.deliveries.pending > 0;
    return {
      title: texts.endpoint.pages.replay,
      refreshSeconds: waits && !failed ? LOOK_AGAIN : undefined,
      body: (
        <>
          <p>
            <a href={endpointPage(visit)}>{texts.newEndpoint.toEndpoint}</a>
          </p>
          <Outcome replay={replay} />
          <ReplayFacts replay={replay} />
        </>
      ),
    };
  },
  actions: {
    /** Sends what a dry run has counted: the same choice, up to the same instant. */
    start: async (visit, form) => {
      const { since, until, types, statuses } = await visit.api.get<Replay>(replayPath(visit));
      return start(visit, { since, until, types, statuses, dryRun: false }, form.key);
    },
    stop: async (visit) => {
      await visit.api.delete(replayPath(visit));
      return { goTo: visit.path, done: 'replayStopped' };
    },
  },
};

/** What a replay found or does, and what can be done next. */
const Outcome = ({ replay: one }: { readonly replay: Replay }) => {
  const visit = usePortal();
  const { texts, formats } = visit;
  const { replay } = texts;
  if (isUnderWay(one))
    return (
      <>
        <p class="empty">{one.dryRun ? replay.counting : replay.running}</p>
        {!one.dryRun && <PostForm action="stop" submit={replay.stop} />}
      </>
    );
  if (!one.dryRun || one.state !== 'finished') return null;
  return (
    <>
      <p class={one.events === 0 ? 'empty' : 'done'} role="status">
        {one.events === 0 ? replay.none : replay.counted(formats.number(one.events))}
      </p>
      {one.events > 0 && <PostForm action="start" submit={replay.start} />}
      <p>
        <a href={`${endpointPage(visit)}/replay`}>{replay.another}</a>
      </p>
    </>
  );
};

const ReplayFacts = ({ replay: one }: { readonly replay: Replay }) => {
  const { texts, formats } = useVisit();
  const { replay, eventTypes, replayable, states } = texts;
  const sent = (['pending', 'succeeded', 'exhausted', 'skipped'] as const).map((state) =>
    texts.pair(states[state], formats.number(one.deliveries[state])),
  );
  return (
    <Facts
      of={[
        [
          texts.readings.status,
          <State of={one.dryRun && one.state === 'finished' ? 'counted' : one.state} />,
        ],
        [texts.areas.events, <Count of={one.events} />],
        !one.dryRun && [replay.progress, formats.percent(one.progress)],
        !one.dryRun && [texts.deliveries.title, sent.join(', ')],
        !one.dryRun && [replay.done, <Time at={one.finishedAt} />],
        [replay.from, <Time at={one.since} />],
        [replay.to, <Time at={one.until} />],
        [texts.areas.events, one.types.map((type) => eventTypes[type]).join(', ')],
        [replay.statuses, one.statuses.map((status) => replayable[status]).join(', ')],
      ]}
    />
  );
};
