import type { StoredRecord } from '../log/record.js';
import type { ConsumerStrategy } from './settings.js';

/** The key by which a strategy pins an event to a consumer. Without a correlation id, it is the stream's name. */
export const pinningKey = (strategy: ConsumerStrategy, event: StoredRecord | undefined): string => {
  const stream = event?.stream ?? '';
  return strategy === 'PinnedByCorrelation' && event ? (correlationId(event) ?? stream) : stream;
};

const correlationId = (event: StoredRecord): string | undefined => {
  try {
    const metadata = JSON.parse(event.metadata.toString('utf8')) as { $correlationId?: unknown } | null;
    return typeof metadata?.$correlationId === 'string' ? metadata.$correlationId : undefined;
  } catch {
    return undefined;
  }
};
