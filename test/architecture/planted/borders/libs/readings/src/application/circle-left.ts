// caught by: no-circular-import
import { right } from './circle-right.js';

export const left = (): unknown => right;
