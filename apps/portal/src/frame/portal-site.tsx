import type { SessionScope } from '#platform/auth/scopes.js';
import type { ApiProblem } from './api.js';
import { Refusal } from './forms.js';
import type { Area, View, Visit } from './page.js';
import type { Site } from './send.js';

/** The navigation, in its order. Without the scope, a session does not see the entry. */
const AREAS: readonly { readonly area: Area; readonly path: string; readonly needs?: SessionScope }[] = [
  { area: 'overview', path: '' },
  { area: 'readings', path: '/readings', needs: 'readings:read' },
  { area: 'webhooks', path: '/webhooks', needs: 'webhooks:read' },
  { area: 'events', path: '/events', needs: 'events:read' },
  { area: 'keys', path: '/keys', needs: 'keys:write' },
  { area: 'credits', path: '/credits', needs: 'credits:read' },
  { area: 'settings', path: '/settings' },
];

/** The portal of a session's workspace. @param current where the page belongs; `null`: nowhere */
export const portalSite = ({ texts, session, may }: Visit, current: Area | null): Site => ({
  language: session.language,
  name: texts.portal,
  home: '/portal',
  about: session.workspaceId,
  areas: AREAS.filter(({ needs }) => needs === undefined || may(needs)).map(({ area, path }) => ({
    label: texts.areas[area],
    href: `/portal${path}`,
    isCurrent: area === current,
  })),
  tools: (
    <>
      {session.modes.length > 1 && <ModeSwitch texts={texts} isLive={session.mode === 'live'} />}
      {session.returnUrl !== null && <a href={session.returnUrl}>{texts.back}</a>}
      <form method="post" action="/portal/sign-out">
        <button type="submit" class="quiet">
          {texts.signOut}
        </button>
      </form>
    </>
  ),
  notice: session.mode === 'test' && <p class="test-mode">{texts.testMode}</p>,
});

const ModeSwitch = ({ texts, isLive }: Pick<Visit, 'texts'> & { readonly isLive: boolean }) => (
  <form method="post" action="/portal/mode">
    <input type="hidden" name="mode" value={isLive ? 'test' : 'live'} />
    <button type="submit" class="quiet">
      {isLive ? texts.toTestMode : texts.toLiveMode}
    </button>
  </form>
);

/** The page in place of one that the API refuses; `null`: there is no such page. */
export const refusedPage = ({ texts, path, query }: Visit, refused: ApiProblem | null): View => ({
  title: refused === null ? texts.notFound.title : texts.refused,
  body: (
    <>
      {refused === null ? <p>{texts.notFound.text}</p> : <Refusal of={refused} />}
      {query.size > 0 && <a href={path}>{texts.clearFilters}</a>}
      <p>
        <a href="/portal">{texts.areas.overview}</a>
      </p>
    </>
  ),
});
