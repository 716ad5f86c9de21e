// caught by: contracts-show-no-inside
export { CLOCK } from '@app/platform/tokens.js';
