import { left } from './circle-left.js';

export const right = (): unknown => left;
