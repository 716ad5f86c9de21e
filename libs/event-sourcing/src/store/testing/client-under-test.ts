import { CLIENTS, STORE_DEFAULTS, type ClientName } from '../defaults.js';

/** The client that specs of the port use: EVENT_STORE_CLIENT of the test run, as in the service. */
export const CLIENT_UNDER_TEST: ClientName =
  CLIENTS.find((name) => name === process.env['EVENT_STORE_CLIENT']) ?? STORE_DEFAULTS.client;
