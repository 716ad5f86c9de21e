import { expect, it } from '@jest/globals';
import { BatchesController } from '#readings/http/request-batch.js';
import { DeliveriesController } from '#webhooks/http/deliveries.js';
import { EndpointController } from '#webhooks/http/endpoints.js';

/** What `RateLimited` has put on a route, and what its description tells callers. */
const costOf = (route: object) => {
  const policy = Reflect.getMetadata('rate:policy', route) as { tokens: unknown } | undefined;
  const { description } = Reflect.getMetadata('swagger/apiOperation', route) as { description: string };
  return [policy?.tokens, /Counts as (\d+) requests/.exec(description)?.[1]];
};

it.each([
  ['the states of a batch', BatchesController.prototype.get, 5],
  ['the health of an endpoint', EndpointController.prototype.health, 5],
  ['the deliveries of an endpoint', DeliveriesController.prototype.list, 5],
  ['the attempts of an endpoint by hour', EndpointController.prototype.show, 5],
])('%s takes more than one request’s work, costs it, and says so', (_, route, tokens) => {
  expect(costOf(route)).toEqual([tokens, String(tokens)]);
});
