// caught by: eslint(no-restricted-imports): EventStore port
export { EventStoreDBClient } from '@eventstore/db-client';
