import type { RotatedWebhookEndpoint, WebhookEndpoint } from '@reading-service/client';
import { GetEndpointQueue } from '#webhooks/contracts/index.js';
import { Choice, PostForm } from '../../frame/forms.js';
import type { Page, Visit } from '../../frame/page.js';
import { Facts, Secret } from '../../frame/parts.js';
import { EndpointLink, endpointPage, endpointPath } from './endpoint.js';
import { Snippets } from './snippets.js';

const OVERLAPS = ['0', '3600', '86400', '604800'] as const;
const A_DAY = '86400';

export const secretPage: Page = {
  path: '/webhooks/:endpointId/secret',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit) => {
    const { texts, api, queries, session, params } = visit;
    const { secretPage: said, endpoint } = texts;
    const one = await api.get<WebhookEndpoint>(endpointPath(visit));
    const queue = await queries.execute(new GetEndpointQueue(session.workspaceId, params['endpointId']!));
    return {
      title: said.title,
      body: (
        <>
          <EndpointLink to={one} />
          <Facts of={[[endpoint.secret, endpoint.secretEnds(one.secretHint)]]} />
          <Overlap visit={visit} until={queue?.oldSecretsValidUntil ?? null} />
          <p>{said.hint}</p>
          <PostForm action="rotate" submit={said.submit}>
            <Choice
              name="overlapSeconds"
              label={said.overlap}
              value={A_DAY}
              options={OVERLAPS.map((seconds) => [seconds, texts.overlaps[seconds]])}
            />
          </PostForm>
        </>
      ),
    };
  },
  actions: {
    rotate: async (visit, form) => {
      const { texts, api } = visit;
      const { signingSecret, previousValidUntil } = await api.post<RotatedWebhookEndpoint>(
        `${endpointPath(visit)}/rotate-secret`,
        { overlapSeconds: form.number('overlapSeconds') },
        form.key,
      );
      return {
        title: texts.secretPage.title,
        body: (
          <>
            {signingSecret === undefined ? (
              <p class="refusal">{texts.secretPage.lost}</p>
            ) : (
              <Secret label={texts.newEndpoint.secret} value={signingSecret} />
            )}
            <Overlap visit={visit} until={previousValidUntil} />
            <p>
              <a href={endpointPage(visit)}>{texts.newEndpoint.toEndpoint}</a>
            </p>
            <Snippets visit={visit} />
          </>
        ),
      };
    },
  },
};

/** How long the old secret still signs. */
const Overlap = ({ visit: { texts, formats }, until }: { visit: Visit; until: string | null }) => {
  if (until === null || Date.parse(until) <= Date.now()) return <p class="empty">{texts.secretPage.alone}</p>;
  return (
    <p class="done">
      <time dateTime={until} title={formats.utc(until)}>
        {texts.secretPage.clock(formats.time(until), formats.left(until))}
      </time>
    </p>
  );
};
