import { EventStoreDBClient, jsonEvent, type JSONEventData } from '@eventstore/db-client';

export { streamNameFilter, type EventStoreDBClient, type JSONEventData } from '@eventstore/db-client';

/** The unmodified official client, faults included. Crash tests and measurements of this server use it. */
export const connectClient = (connectionString: string): EventStoreDBClient =>
  EventStoreDBClient.connectionString(connectionString);

/** An event with a new id. */
export const newEvent = (type: string, data: Record<string, string | number>): JSONEventData =>
  jsonEvent({ type, data });
