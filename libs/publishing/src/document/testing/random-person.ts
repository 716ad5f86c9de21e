import fc from 'fast-check';
import { randomPerson as personFrom } from './random-people.js';

/** Any person that the service accepts. */
export const randomPerson = fc.integer().map(personFrom);
