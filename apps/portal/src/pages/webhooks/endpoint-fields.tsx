import type { WebhookEndpoint } from '@reading-service/client';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { NOTICE_TYPES, PUBLIC_EVENT_TYPES } from '#webhooks/contracts/index.js';
import type { Form } from '../../frame/form.js';
import { Checks, Choice, Lines, Text } from '../../frame/forms.js';
import type { Visit } from '../../frame/page.js';

const LIVE = 'live';
const BOTH = 'both';

/** Each line as a name and a value. A name without a value removes the header; for a new endpoint, the API refuses it. */
const headersOf = (lines: readonly string[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim() || null];
    }),
  );

/** The settings of an endpoint in a form, as the API takes them. Empty headers are not sent: they stay as they are. */
export const settingsOf = (form: Form): Readonly<Record<string, unknown>> => {
  const headers = form.lines('headers');
  const modes = form.text('modes');
  const url = form.optional('url');
  return {
    // A session that may not choose it has no field for it.
    ...(url !== undefined && { url }),
    events: form.all('events'),
    notices: form.all('notices'),
    description: form.optional('description') ?? null,
    maxPerSecond: form.number('maxPerSecond') ?? null,
    ...(headers.length > 0 && { headers: headersOf(headers) }),
    ...(modes !== '' && { modes: modes === BOTH ? ['live', 'test'] : [modes] }),
  };
};

/** The fields of an endpoint, as it is or as a new one begins. */
export const EndpointFields = ({
  visit,
  endpoint,
}: {
  readonly visit: Visit;
  readonly endpoint?: WebhookEndpoint;
}) => {
  const { webhooks, eventTypes } = visit.texts;
  const chosenModes = endpoint?.modes.length === 2 ? BOTH : LIVE;
  return (
    <>
      {visit.may(PERSONS_SCOPE) && (
        <Text
          name="url"
          type="url"
          label={webhooks.url}
          hint={webhooks.urlHint}
          value={endpoint?.url ?? ''}
          required
        />
      )}
      <Text name="description" label={webhooks.description} value={endpoint?.description ?? ''} />
      <Checks
        name="events"
        label={webhooks.events}
        values={endpoint?.events ?? PUBLIC_EVENT_TYPES}
        options={PUBLIC_EVENT_TYPES.map((type) => [type, eventTypes[type]])}
      />
      <Checks
        name="notices"
        label={webhooks.notices}
        hint={webhooks.noticesHint}
        values={endpoint?.notices ?? []}
        options={NOTICE_TYPES.map((type) => [type, eventTypes[type]])}
      />
      {visit.session.mode === 'live' && (
        <Choice
          name="modes"
          label={webhooks.modes}
          value={chosenModes}
          options={[
            [LIVE, webhooks.modesLive],
            [BOTH, webhooks.modesBoth],
          ]}
        />
      )}
      <Lines
        name="headers"
        label={webhooks.headers}
        hint={endpoint ? `${webhooks.headersHint} ${webhooks.headersKept}` : webhooks.headersHint}
      />
      {endpoint && endpoint.headerNames.length > 0 && (
        <p class="field">
          <span class="hint">
            {visit.texts.pair(webhooks.headersBefore, endpoint.headerNames.join(', '))}
          </span>
          <label class="check">
            <input type="checkbox" name="dropHeaders" value="yes" />
            {webhooks.dropHeaders}
          </label>
        </p>
      )}
      <Text
        name="maxPerSecond"
        type="number"
        label={webhooks.maxPerSecond}
        hint={webhooks.maxPerSecondHint}
        value={String(endpoint?.maxPerSecond ?? '')}
      />
    </>
  );
};
