import { billing } from '@app/billing/manifest.js';

export const modules = [billing];
