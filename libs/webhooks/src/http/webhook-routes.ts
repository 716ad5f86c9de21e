import { applyDecorators, Controller, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Accepts } from '#platform/auth/authentication.js';
import { Names } from '#platform/http/openapi/operation.js';
import { OwnEndpointGuard } from './own-endpoint.guard.js';
import { NAMED_DELIVERY, NAMED_ENDPOINT, NAMED_EVENT, NAMED_REPLAY } from './webhook.schemas.js';

const routes = (path: string) => applyDecorators(Controller(path), ApiTags('Webhooks'));

/** Routes of the webhook endpoints of a workspace. */
export const WebhookRoutes = () => routes('api/v1/webhooks');

/** Routes of one webhook endpoint, the parameter `endpointId`. */
export const EndpointRoutes = () =>
  applyDecorators(
    routes('api/v1/webhooks/:endpointId'),
    Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT),
    UseGuards(OwnEndpointGuard),
  );

/** Declares that a route shows endpoints or their deliveries. */
export const ReadsWebhooks = () => Accepts({ apiKey: 'webhooks:read', bearer: 'webhooks:read' });
/** Declares that a route changes endpoints, or sends something to them. */
export const WritesWebhooks = () => Accepts({ apiKey: 'webhooks:write', bearer: 'webhooks:write' });

/** For a route of one delivery, the parameter `deliveryId`. */
export const NamesDelivery = () => Names('deliveryId', 'delivery_not_found', NAMED_DELIVERY);
/** For a route of one event, the parameter `eventId`. */
export const NamesEvent = () => Names('eventId', 'not_found', NAMED_EVENT);
/** For a route of one replay, the parameter `replayId`. */
export const NamesReplay = () => Names('replayId', 'not_found', NAMED_REPLAY);
