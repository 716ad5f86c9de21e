// caught by: portal-asks-the-api
import { billing } from '@app/billing/manifest.js';

export const modules = [billing];
