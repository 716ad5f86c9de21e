// caught by: kernel-knows-no-feature
export { CLOCK } from '@app/platform/tokens.js';
