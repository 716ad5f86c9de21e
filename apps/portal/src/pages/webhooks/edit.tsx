import type { WebhookEndpoint } from '@reading-service/client';
import { refusedField } from '../../frame/api.js';
import { PostForm, Text } from '../../frame/forms.js';
import type { Page } from '../../frame/page.js';
import { Section } from '../../frame/parts.js';
import { EndpointFields, settingsOf } from './endpoint-fields.js';
import { EndpointLink, endpointPage, endpointPath } from './endpoint.js';

export const editEndpointPage: Page = {
  path: '/webhooks/:endpointId/edit',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit, failed) => {
    const { editEndpoint, webhooks } = visit.texts;
    const { found: endpoint, etag } = await visit.api.tagged<WebhookEndpoint>(endpointPath(visit));
    const { host } = new URL(endpoint.url);
    const isTold = failed?.refused.problem.status === 412;
    return {
      title: editEndpoint.title,
      body: (
        <>
          <EndpointLink to={endpoint} />
          <PostForm action="save" submit={webhooks.save}>
            {/* Still that of what the person saw, until the page has said that somebody changed it since. */}
            <input type="hidden" name="etag" value={(!isTold && failed?.form.text('etag')) || etag} />
            <EndpointFields visit={visit} endpoint={endpoint} />
          </PostForm>
          <Section title={editEndpoint.remove}>
            <p>{editEndpoint.removeHint}</p>
            <PostForm action="remove" submit={editEndpoint.remove} isGrave>
              <Text name="confirm" label={editEndpoint.removeConfirm(host)} required />
            </PostForm>
          </Section>
        </>
      ),
    };
  },
  actions: {
    save: async (visit, form) => {
      const drops = form.text('dropHeaders') === 'yes';
      const changes = { ...settingsOf(form), ...(drops && { headers: null }) };
      await visit.api.patch(endpointPath(visit), changes, form.text('etag'));
      return { goTo: endpointPage(visit), done: 'endpointSaved' };
    },
    remove: async (visit, form) => {
      const { url } = await visit.api.get<WebhookEndpoint>(endpointPath(visit));
      if (form.text('confirm').toLowerCase() !== new URL(url).host)
        throw refusedField('/confirm', 'unconfirmed');
      await visit.api.delete(endpointPath(visit));
      return { goTo: '/portal/webhooks', done: 'endpointDeleted' };
    },
  },
};
