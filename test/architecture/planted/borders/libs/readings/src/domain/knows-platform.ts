// caught by: domain-knows-no-outer-layer
export { CLOCK } from '@app/platform/tokens.js';
