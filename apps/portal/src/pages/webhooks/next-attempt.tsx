import type { WebhookEndpoint } from '@reading-service/client';
import { useVisit } from '../../frame/context.js';
import { Time } from '../../frame/parts.js';

/** When waiting deliveries are tried next. While an endpoint gets probes alone, their own time may have passed. */
export const NextAttempt = ({ at, of }: { readonly at: string | null; readonly of: WebhookEndpoint }) => {
  const { deliveries } = useVisit().texts;
  if (at === null || Date.parse(at) > Date.now()) return <Time at={at} />;
  return (
    <span class="soft">{of.health.state === 'unverified' ? deliveries.afterProbe : deliveries.inTurn}</span>
  );
};
