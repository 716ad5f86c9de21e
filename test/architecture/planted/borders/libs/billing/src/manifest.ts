// caught by: manifest-is-light
import { opened } from './contracts/events.js';

export const billing = { name: opened };
