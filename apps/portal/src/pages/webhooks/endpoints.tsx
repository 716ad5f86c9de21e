import type { CreatedWebhookEndpoint, WebhookEndpoint } from '@reading-service/client';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { PostForm } from '../../frame/forms.js';
import type { Page } from '../../frame/page.js';
import { EndpointAddress, Pager, Secret, State, Table, Time } from '../../frame/parts.js';
import { EndpointFields, settingsOf } from './endpoint-fields.js';
import { stateOf } from './endpoint.js';
import { Snippets } from './snippets.js';

const ROWS = 25;

export const endpointsPage: Page = {
  path: '/webhooks',
  area: 'webhooks',
  needs: 'webhooks:read',
  show: async ({ api, may, texts, query }) => {
    const { webhooks } = texts;
    const { data, nextCursor } = await api.get<{
      readonly data: readonly WebhookEndpoint[];
      readonly nextCursor: string | null;
    }>('/webhooks', { limit: ROWS, cursor: query.get('cursor') ?? '' });
    return {
      title: webhooks.title,
      body: (
        <>
          {may('webhooks:write') && may(PERSONS_SCOPE) && (
            <p>
              <a class="button" href="/portal/webhooks/new">
                {webhooks.create}
              </a>
            </p>
          )}
          <Table
            caption={webhooks.caption}
            rows={data}
            empty={webhooks.empty}
            columns={[
              {
                head: webhooks.endpoint,
                cell: ({ endpointId, url, description }) => (
                  <>
                    <EndpointAddress endpointId={endpointId} url={url} />
                    {description && (
                      <div class="soft" dir="auto">
                        {description}
                      </div>
                    )}
                  </>
                ),
              },
              { head: webhooks.state, cell: (one) => <State of={stateOf(one)} /> },
              { head: webhooks.events, cell: ({ events }) => events.length, isNumber: true },
              { head: webhooks.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
            ]}
          />
          <Pager next={nextCursor} />
        </>
      ),
    };
  },
};

export const newEndpointPage: Page = {
  path: '/webhooks/new',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit) => ({
    title: visit.texts.newEndpoint.title,
    body: (
      <PostForm action="create" submit={visit.texts.webhooks.create}>
        <EndpointFields visit={visit} />
      </PostForm>
    ),
  }),
  actions: {
    create: async (visit, form) => {
      const { newEndpoint } = visit.texts;
      const created = await visit.api.post<CreatedWebhookEndpoint>('/webhooks', settingsOf(form), form.key);
      const { endpointId, signingSecret } = created;
      return {
        title: newEndpoint.done,
        body: (
          <>
            {signingSecret === undefined ? (
              <p class="refusal">{newEndpoint.secretLost}</p>
            ) : (
              <Secret label={newEndpoint.secret} value={signingSecret} />
            )}
            <p>
              <a href={`/portal/webhooks/${endpointId}`}>{newEndpoint.toEndpoint}</a>
            </p>
            <Snippets visit={visit} />
          </>
        ),
      };
    },
  },
};
