import type { SessionScope } from '@app/platform/auth/scopes.js';
import type { Area } from './page.js';

/** The navigation, in its order. Without the scope, a session does not see the entry. */
export const AREAS: readonly { readonly area: Area; readonly path: string; readonly needs?: SessionScope }[] =
  [
    { area: 'overview', path: '' },
    { area: 'readings', path: '/readings', needs: 'readings:read' },
    { area: 'webhooks', path: '/webhooks', needs: 'webhooks:read' },
    { area: 'events', path: '/events', needs: 'events:read' },
    { area: 'keys', path: '/keys', needs: 'keys:write' },
    { area: 'credits', path: '/credits', needs: 'credits:read' },
    { area: 'settings', path: '/settings' },
  ];
