import fc from 'fast-check';
import { randomPerson as personFrom } from '../../content/random-people.js';

/** Anyone the service would accept. */
export const randomPerson = fc.integer().map(personFrom);
