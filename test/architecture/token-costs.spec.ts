import { expect, it } from '@jest/globals';
import { ShowDocumentController } from '#publishing/http/documents.js';
import { BatchesController } from '#readings/http/request-batch.js';
import { ReadingsController } from '#readings/http/show-readings.js';
import { DeliveriesController } from '#webhooks/http/deliveries.js';
import { EndpointController } from '#webhooks/http/endpoints.js';

/** What `RateLimited` has put on a route, and what its description tells callers. */
const costOf = (route: object, query: object) => {
  type Tokens = number | ((request: { query: object }) => number);
  const { tokens } = Reflect.getMetadata('rate:policy', route) as { tokens: Tokens };
  const { description } = Reflect.getMetadata('swagger/apiOperation', route) as { description: string };
  return [
    typeof tokens === 'number' ? tokens : tokens({ query }),
    /[Cc]ounts as (\d+) requests/.exec(description)?.[1],
  ];
};

it.each<readonly [string, object, number, object?]>([
  ['a search by external id', ReadingsController.prototype.list, 5, { externalId: 'x', limit: '1' }],
  ['the states of a batch', BatchesController.prototype.get, 5],
  ['the health of an endpoint', EndpointController.prototype.health, 5],
  ['a PDF', ShowDocumentController.prototype.get, 5, { format: 'pdf' }],
  ['the deliveries of an endpoint', DeliveriesController.prototype.list, 5],
  ['the attempts of an endpoint by hour', EndpointController.prototype.show, 5],
])('%s takes more than one request’s work, costs it, and says so', (_, route, tokens, query = {}) => {
  expect(costOf(route, query)).toEqual([tokens, String(tokens)]);
});
