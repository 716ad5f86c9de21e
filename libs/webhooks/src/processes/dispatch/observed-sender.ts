import { SpanKind } from '@opentelemetry/api';
import type pg from 'pg';
import { isTracing, startSpan, withSpan } from '@app/event-sourcing/tracing/tracing.js';
import type { Sender } from './sender.js';

/** Told of each attempt that came to an end: `succeeded` or a class of failure, and its time. */
export interface AttemptObserver {
  attempted(result: string, seconds: number): void;
}

export type SendsRequests = Pick<Sender, 'send' | 'cutOff' | 'close'>;

/** A sender whose attempts are counted, and are spans of the trace of what they tell. */
export const observedSender = (
  sender: SendsRequests,
  pool: pg.Pool,
  observer: AttemptObserver,
): SendsRequests => ({
  close: () => sender.close(),
  cutOff: () => sender.cutOff(),
  async send(request) {
    const { headers, endpointId } = request;
    const span =
      isTracing() &&
      startSpan('webhook attempt', {
        kind: SpanKind.CLIENT,
        parent: await traceparentOf(pool, headers['x-service-event-id']),
        attributes: {
          'webhook.endpoint_id': endpointId,
          'webhook.delivery_id': headers['x-service-delivery-id'],
          'webhook.event_type': headers['x-service-event'],
          'webhook.attempt': Number(headers['x-service-attempt']),
        },
      });
    const startedAt = performance.now();
    let result = 'cut_off';
    try {
      const answer = await withSpan(span || null, () => sender.send(request));
      if (answer === 'cut off') return answer;
      result = answer.error ?? 'succeeded';
      if (span && answer.statusCode !== null)
        span.setAttribute('http.response.status_code', answer.statusCode);
      return answer;
    } finally {
      if (result !== 'cut_off') observer.attempted(result, (performance.now() - startedAt) / 1_000);
      if (span) span.setAttribute('webhook.result', result).end();
    }
  },
});

/** Asked only while tracing is on. Without an answer the attempt begins a trace of its own. */
const traceparentOf = async (pool: pg.Pool, eventId: string | undefined): Promise<string | null> => {
  const found = await pool
    .query<{ traceparent: string | null }>(
      'select traceparent from webhooks.public_event where event_id = $1',
      [eventId],
    )
    .catch(() => null);
  return found?.rows[0]?.traceparent ?? null;
};
