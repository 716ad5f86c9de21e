// caught by: domain-knows-no-outer-layer
export { known } from '../application/innocent.js';
