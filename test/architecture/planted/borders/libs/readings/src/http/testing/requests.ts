import { constant } from 'fast-check';

export const requests = constant('a testing tool may use development packages');
