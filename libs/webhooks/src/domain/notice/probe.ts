import { uuid5 } from '#event-sourcing/core/event-id.js';
import { VERIFICATION_NOTICE } from '../../contracts/notice-types.js';
import { API_VERSION } from '../delivery/public-event.js';

/** The request that asks an endpoint whether it expects our webhooks. */
export interface Probe {
  /** The same for every probe of this URL. */
  readonly eventId: string;
  readonly deliveryId: string;
  readonly type: typeof VERIFICATION_NOTICE;
  readonly body: string;
}

interface ProbedEndpoint {
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly livemode: boolean;
  /** RFC 3339: when the endpoint was given this URL. */
  readonly at: string;
}

export const probeOf = ({ endpointId, workspaceId, url, livemode, at }: ProbedEndpoint): Probe => {
  const type = VERIFICATION_NOTICE;
  const eventId = `evt_${uuid5('probe', endpointId, url)}`;
  const head = { id: eventId, type, apiVersion: API_VERSION, createdAt: at, workspaceId, livemode };
  const data = { links: { endpoint: `/api/v1/webhooks/${endpointId}` } };
  return {
    eventId,
    deliveryId: uuid5('probe-delivery', endpointId, url),
    type,
    body: JSON.stringify({ ...head, endpointId, data }),
  };
};
