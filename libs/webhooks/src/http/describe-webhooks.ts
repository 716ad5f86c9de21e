import type { OpenAPIObject } from '@nestjs/swagger';
import { refTo } from '#platform/http/openapi/api-schema.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../contracts/event-types.js';
import { NOTICE_TYPES, VERIFICATION_NOTICE } from '../contracts/notice-types.js';
import { NOTICES } from './notice.schema.js';
import { publicEventExample, publicEventSchema } from './public-event.schema.js';

const SUMMARIES: Readonly<Record<PublicEventType, string>> = {
  'reading.completed': 'The result of a reading is available: `/result` answers 200',
  'reading.published': 'All formats of a document version are available',
  'reading.failed': 'A reading has failed, and its credits are released',
  'reading.delayed': 'A reading takes longer than usual',
};

const NOTICE_SUMMARIES: Readonly<Record<keyof typeof NOTICES, string>> = {
  'batch.ended': 'Each accepted reading of a batch has ended: published, failed or erased',
  'credits.expiring': 'Credits of a grant expire within seven days',
  'credits.low': 'Few credits are left of what the workspace had after its last grant',
  'endpoint.disabled': 'The service has disabled an endpoint',
  'endpoint.failing': 'No delivery has reached an endpoint for an hour',
  'endpoint.verification': 'Answer 2xx if you expect webhooks at this URL',
  'key.expiring': 'An API key expires within fourteen days',
  'replay.finished': 'A replay has queued all its events, or was stopped',
};

const ASKED =
  'A notice: only for endpoints that ask for it in `notices`. Sent at least once, in no order with others. Signed and retried like an event, but without `X-Service-Event`.';
const UNASKED =
  'A notice to an endpoint that is not verified, where the operator has this required. Its events wait until it answers 2xx. Signed like an event, but without `X-Service-Event`.';

const header = (name: string, description: string, example: string, required = true) => ({
  name,
  in: 'header' as const,
  required,
  description,
  schema: { type: 'string' },
  example,
});

const TYPE = header('X-Service-Event', 'The type of the event', 'reading.completed');
const NOTICE_TYPE = header('X-Service-Notice', 'The type of the notice', 'batch.ended');

const DELIVERY_HEADERS = [
  header('X-Service-Timestamp', 'Unix seconds of this attempt', '1775295000'),
  header(
    'X-Service-Signature',
    'HMAC-SHA-256 of `{timestamp}.{raw body}`, keyed with the whole secret; during a rotation, one `v1` for each secret. Refuse timestamps more than 300 seconds off',
    't=1775295000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  ),
  header('X-Service-Event-Id', 'The `id` in the body', 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60'),
  header(
    'X-Service-Delivery-Id',
    'The `deliveryId` of this delivery',
    '5e2f8f5c-8c4e-4c57-8d63-6a0a4f8f4f10',
  ),
  header('X-Service-Attempt', 'Counts from 1', '1'),
  header('X-Service-Test', '`true` for a trial', 'true', false),
  header('X-Service-Redelivery', '`true` for a redelivery or a replay', 'true', false),
  header('Webhook-Id', 'As in Standard Webhooks', 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60'),
  header('Webhook-Timestamp', 'As in Standard Webhooks', '1775295000'),
  header(
    'Webhook-Signature',
    'As in Standard Webhooks; the key is the base64-decoded part of the same secret',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

/** The requests to webhook endpoints, for the `webhooks` of an OpenAPI 3.1 document. */
export const describeWebhooks = (): NonNullable<OpenAPIObject['webhooks']> => ({
  ...Object.fromEntries(
    PUBLIC_EVENT_TYPES.map((type) => [
      type,
      request(type, {
        summary: SUMMARIES[type],
        description:
          'Sent at least once, in the order of `sequence` for each reading. Verify the signature over the raw bytes first. Every attempt has the same body.',
        parameters: [TYPE, ...DELIVERY_HEADERS],
        schema: publicEventSchema,
        example: publicEventExample(type),
      }),
    ]),
  ),
  ...Object.fromEntries(
    [...NOTICE_TYPES, VERIFICATION_NOTICE].map((type) => [
      type,
      request(type, {
        summary: NOTICE_SUMMARIES[type],
        description: type === VERIFICATION_NOTICE ? UNASKED : ASKED,
        parameters: [NOTICE_TYPE, ...DELIVERY_HEADERS],
        schema: NOTICES[type].schema,
        example: NOTICES[type].example,
      }),
    ]),
  ),
});

interface Described {
  readonly summary: string;
  readonly description: string;
  readonly parameters: ReturnType<typeof header>[];
  readonly schema: Parameters<typeof refTo>[0];
  readonly example: object;
}

const request = (type: string, { summary, description, parameters, schema, example }: Described) => ({
  post: {
    operationId: type.replace(/\.(\w)/, (_, letter: string) => letter.toUpperCase()),
    tags: ['Webhooks'],
    summary,
    description,
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            allOf: [
              refTo(schema),
              {
                type: 'object' as const,
                properties: {
                  type: { type: 'string' as const, enum: [type], description: 'The type of this event' },
                },
              },
            ],
          },
          example,
        },
      },
    },
    responses: {
      '2XX': {
        description: 'Received, within 15 seconds. The service retries any other outcome over three days',
      },
      '410': { description: 'The endpoint is disabled at once' },
    },
  },
});
