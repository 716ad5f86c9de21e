import type { ClientName } from '../defaults.js';
import type { OpenClient } from './client.js';

let loaded: ClientName | undefined;

/**
 * Loads one of the two clients. Both register their messages under the same global names, and appends of the first break
 * when the second is loaded.
 * @throws Error when this process has loaded the other one
 */
export const loadClient = async (name: ClientName): Promise<OpenClient> => {
  loaded ??= name;
  if (loaded !== name) throw new Error(`This process uses the client ${loaded}: ${name} cannot join it.`);
  return (name === 'kurrent' ? await import('./kurrent.js') : await import('./eventstore.js')).openClient;
};
