import type { SessionScope } from '#platform/auth/scopes.js';
import { ApiProblem, Api, refusal } from './frame/api.js';
import { Refusal } from './frame/forms.js';
import {
  type Area,
  type View,
  type Visit,
  type Answer,
  type Failed,
  type Page,
  Form,
  readForm,
} from './frame/page.js';
import { Lead } from './frame/parts.js';
import { type Site, readAssets, Sender } from './frame/send.js';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestListener } from 'node:http';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { within } from '#platform/async/within.js';
import { insideCaller } from '#platform/http/in-process.js';
import { requestIdOf } from '#platform/http/request-id.js';
import { serveDocuments } from '#platform/http/send-json.js';
import { ASKED_WITHIN_MS, RateLimiter, type RatePolicies } from '#platform/rate-limit/rate-limiter.js';
import { RATE_POLICIES, rateSubject } from '#platform/rate-limit/rate-limit.guard.js';
import {
  AdjustPortalSession,
  EndPortalSession,
  EnterPortal,
  FindPortalLink,
  FindPortalSession,
  type PortalAddress,
  type PortalSession,
} from '#workspaces/contracts/index.js';
import { formatsOf } from './frame/formats.js';
import { PAGES } from './pages/pages.js';
import { TEXTS } from './texts/texts.js';

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
const portalSite = ({ texts, session, may }: Visit, current: Area | null): Site => ({
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
const refusedPage = ({ texts, path, query }: Visit, refused: ApiProblem | null): View => ({
  title: refused === null ? texts.notFound.title : texts.refused,
  body: (
    <>
      {refused === null ? <p>{texts.notFound.text}</p> : <Refusal of={refused} />}
      {query.size > 0 && <a href={path}>{texts.clearFilters}</a>}
      <Lead to="/portal" text={texts.areas.overview} />
    </>
  ),
});

/**
 * Its prefix binds it to this host, to https and to every path. Browsers also keep it over http from `localhost`; Safari
 * does not.
 */
const SESSION = '__Host-portal';
/** What the last action did, for the next page. */
const DONE = '__Host-portal-done';
const DONE_SECONDS = 60;

const read = (request: Request, name: string): string | null => {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return null;
};

const write = (response: Response, name: string, value: string, seconds: number): void => {
  response.append(
    'Set-Cookie',
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`,
  );
};

/** What the last action did; shown once. */
const takeDone = (request: Request, response: Response): string | null => {
  const done = read(request, DONE);
  if (done !== null) write(response, DONE, '', 0);
  return done;
};

interface PortalSettings extends PortalAddress {
  readonly PORTAL_FRAME_ANCESTORS: readonly string[];
}

/**
 * Serves the workspace portal below `/portal`, when it is switched on. Its pages call the API's own routes inside this
 * process, as the person's session: they show and do nothing that the API would refuse.
 */
export const servePortal = (app: NestExpressApplication, settings: PortalSettings, log: Logger): void => {
  if (!settings.PORTAL) return;
  const { documents, paths } = readAssets('/portal');
  serveDocuments(app, documents);
  const express = app.getHttpAdapter().getInstance();
  const sender = new Sender(paths, settings.PORTAL_FRAME_ANCESTORS);
  const portal = new Portal(app, settings, sender, log);

  express.get('/portal/enter/:token', portal.answering(portal.ask));
  express.post('/portal/enter/:token', portal.fromItsPages(portal.enter));
  express.post('/portal/sign-out', portal.acting(portal.leave));
  express.post('/portal/mode', portal.acting(portal.switchMode));
  for (const page of PAGES) {
    express.get(`/portal${page.path}`, portal.answering(portal.show(page)));
    if (page.actions) express.post(`/portal${page.path}`, portal.acting(portal.act(page)));
  }
  express.get('/portal/*rest', portal.answering(portal.unknown));
};

type Said = 'unavailable' | 'foreignForm' | 'linkEnded' | 'sessionEnded';
type Handler = (request: Request, response: Response) => Promise<void>;
/** Does what a form of a signed-in person asks for. */
type FormHandler = (visit: Visit, form: Form, response: Response) => Promise<void>;

/** The requests of the portal: who sends them, and what answers them. */
class Portal {
  private readonly queries: QueryBus;
  private readonly commands: CommandBus;
  private readonly limiter: RateLimiter;
  private readonly policies: RatePolicies;
  private readonly call: ReturnType<typeof insideCaller>;

  constructor(
    app: NestExpressApplication,
    private readonly settings: PortalSettings,
    private readonly sender: Sender,
    private readonly log: Logger,
  ) {
    this.queries = app.get(QueryBus);
    this.commands = app.get(CommandBus);
    this.limiter = app.get(RateLimiter);
    this.policies = app.get<RatePolicies>(RATE_POLICIES);
    this.call = insideCaller(app.getHttpAdapter().getInstance() as RequestListener);
  }

  /** A handler whose failures become a page. */
  answering(answer: Handler): Handler {
    return async (request, response) => {
      this.sender.guard(response);
      try {
        await answer(request, response);
      } catch (error) {
        this.log.error({ requestId: requestIdOf(request), err: error }, 'a page of the portal failed');
        if (!response.headersSent) this.outside(request, response, 503, 'unavailable');
      }
    };
  }

  /** A handler of a form from a page of the portal. */
  fromItsPages(answer: Handler): Handler {
    return this.answering(async (request, response) => {
      // A page elsewhere can have a browser send a form with its cookies, but not with another origin than its own.
      if (request.headers.origin !== this.originOf(request))
        return this.outside(request, response, 403, 'foreignForm');
      return answer(request, response);
    });
  }

  /** A handler of a form of a signed-in person. */
  acting(act: FormHandler): Handler {
    return this.fromItsPages(async (request, response) => {
      const form = readForm(request.body, request.headers['content-type']);
      if (!form) return this.outside(request, response, 400, 'foreignForm');
      const visit = await this.visitOf(request, response);
      if (visit) await act(visit, form, response);
    });
  }

  /**
   * Says where a link leads, and asks. It does nothing yet: a frame, a mail scanner or a page elsewhere can open a link, and
   * so could sign a person in to a workspace that is not theirs.
   */
  readonly ask: Handler = async (request, response) => {
    const link = await this.queries.execute(new FindPortalLink(String(request.params['token'])));
    if (!link) return this.outside(request, response, 410, 'linkEnded');
    const { workspaceId, language } = link;
    const { enter, portal: name } = TEXTS[language];
    const present = await this.sessionOf(request);
    const text = present ? enter.instead(workspaceId, present.workspaceId) : enter.text(workspaceId);
    const question = { title: enter.title, text, send: enter.send };
    this.sender.outside(response, 200, { language, name }, question);
  };

  /** Begins the session of a link, and ends the one that the browser has. */
  readonly enter: Handler = async (request, response) => {
    const begun = await this.commands.execute(new EnterPortal(String(request.params['token'])));
    if (!begun) return this.outside(request, response, 410, 'linkEnded');
    const left = await this.sessionOf(request);
    if (left) await this.end(left);
    write(response, SESSION, begun.secret, begun.seconds);
    response.redirect(303, '/portal');
  };

  readonly leave: FormHandler = async ({ session, texts }, _form, response) => {
    await this.end(session);
    write(response, SESSION, '', 0);
    const { language, returnUrl } = session;
    const link = returnUrl === null ? undefined : { href: returnUrl, label: texts.back };
    this.sender.outside(response, 200, { language, name: texts.portal }, texts.signedOut, link);
  };

  readonly switchMode: FormHandler = async ({ session }, form, response) => {
    const mode = form.text('mode') === 'test' ? 'test' : 'live';
    await this.commands.execute(new AdjustPortalSession(session.sessionId, { mode }));
    response.redirect(303, '/portal');
  };

  readonly show =
    (page: Page): Handler =>
    async (request, response) => {
      const visit = await this.visitOf(request, response);
      if (!visit) return;
      if (page.needs && !visit.may(page.needs)) return this.unknownTo(visit, response);
      const done = takeDone(request, response);
      const said = Object.entries(visit.texts.done).find(([name]) => name === done)?.[1] ?? null;
      await this.send(page, visit, response, 200, () => page.show(visit), said);
    };

  readonly act =
    (page: Page): FormHandler =>
    async (visit, form, response) => {
      const action = Object.hasOwn(page.actions ?? {}, form.action) ? page.actions?.[form.action] : undefined;
      if (!action || (page.needs && !visit.may(page.needs))) return this.unknownTo(visit, response);
      let failed: Failed;
      try {
        // A form without a place is of a page that an older version made.
        // The person may have entered another workspace or mode since the form was shown.
        if (![visit.place, ''].includes(form.text('place'))) throw refusal(409, 'http_409');
        const answer = await action(visit, form);
        return await this.send(page, visit, response, 200, async () => answer);
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        failed = { form, refused: error };
      }
      const { status } = failed.refused.problem;
      await this.send(page, visit, response, status, () => page.show(visit, failed), null, failed);
    };

  readonly unknown: Handler = async (request, response) => {
    const visit = await this.visitOf(request, response);
    if (visit) this.unknownTo(visit, response);
  };

  private unknownTo(visit: Visit, response: Response): void {
    this.sender.page(response, 404, portalSite(visit, null), { visit }, refusedPage(visit, null));
  }

  private async send(
    page: Page,
    visit: Visit,
    response: Response,
    status: number,
    make: () => Promise<Answer>,
    done: string | null = null,
    failed?: Failed,
  ): Promise<void> {
    const site = portalSite(visit, page.area);
    try {
      const answer = await make();
      if ('goTo' in answer) {
        if (answer.done) write(response, DONE, answer.done, DONE_SECONDS);
        response.redirect(303, answer.goTo);
      } else if ('content' in answer) await this.sender.download(response, answer);
      else this.sender.page(response, status, site, { visit, failed }, answer, done);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (!failed && error.problem.errors?.some(({ pointer }) => pointer.startsWith('?'))) {
        const filters = { form: new Form(visit.query), refused: error };
        return this.send(page, visit, response, 400, () => page.show(visit, filters), null, filters);
      }
      this.refuse(visit, error, response, page.area);
    }
  }

  private refuse(
    visit: Visit,
    refused: ApiProblem,
    response: Response,
    area: Page['area'] | null = null,
  ): void {
    if (refused.retryAfter !== null) response.setHeader('Retry-After', refused.retryAfter);
    const { status } = refused.problem;
    this.sender.page(response, status, portalSite(visit, area), { visit }, refusedPage(visit, refused));
  }

  /** A page for somebody who is not signed in. */
  private outside(request: Request, response: Response, status: number, said: Said): void {
    const language = request.acceptsLanguages('en', 'fr') === 'fr' ? 'fr' : 'en';
    const texts = TEXTS[language];
    this.sender.outside(response, status, { language, name: texts.portal }, texts[said]);
  }

  private end({ workspaceId, modes, sessionId }: PortalSession) {
    return this.commands.execute(new EndPortalSession(workspaceId, modes, sessionId));
  }

  private async sessionOf(request: Request): Promise<PortalSession | null> {
    const secret = read(request, SESSION);
    return secret === null ? null : this.queries.execute(new FindPortalSession(secret));
  }

  /**
   * Takes a token of the session's workspace, beside those of the calls of the API: a page may make none, or many.
   * @returns `null` when it has answered: nobody is signed in, or there is no token
   */
  private async visitOf(request: Request, response: Response): Promise<Visit | null> {
    const session = await this.sessionOf(request);
    if (!session) {
      write(response, SESSION, '', 0);
      this.outside(request, response, 401, 'sessionEnded');
      return null;
    }
    const { workspaceId, mode, language, timeZone, scopes } = session;
    const { pathname, searchParams } = new URL(request.originalUrl, 'http://portal');
    const principal = principalOf(session);
    const subject = rateSubject(principal);
    const verify = async () => {
      const present = await this.sessionOf(request);
      return present && principalOf(present);
    };
    const visit: Visit = {
      session,
      api: new Api(this.call, { principal, verify }, request.socket, request.get('x-forwarded-for')),
      queries: this.queries,
      commands: this.commands,
      texts: TEXTS[language],
      formats: formatsOf(language, timeZone),
      path: pathname,
      params: request.params as Readonly<Record<string, string>>,
      query: searchParams,
      may: (scope) => scopes.includes(scope),
      charge: async (requests) => {
        await within(ASKED_WITHIN_MS, this.limiter.charge(subject, this.policies.read, requests));
      },
      place: `${workspaceId} ${mode}`,
    };
    const policy = this.policies[request.method === 'POST' ? 'manage' : 'read'];
    const verdict = await this.limiter.judge(subject, policy);
    if (!verdict || verdict.allowed) return visit;
    const { retryAfterSeconds: retryAfter } = verdict;
    this.refuse(visit, refusal(429, 'rate_limited', { retryAfter }), response);
    return null;
  }

  /** Without a public address, only this machine reaches the portal: its name there is the person's choice. */
  private originOf({ headers }: Request): string {
    const { PUBLIC_URL } = this.settings;
    return PUBLIC_URL === undefined ? `http://${headers.host}` : new URL(PUBLIC_URL).origin;
  }
}

/**
 * A session acts for the key that opened it: whoever looks for what a leaked key did, or ends what it made, finds what its
 * sessions did and made.
 */
const principalOf = ({ workspaceId, sessionId, mode, scopes, keyId }: PortalSession) => ({
  authMode: 'session' as const,
  workspaceId,
  mode,
  sees: [mode],
  actor: keyId === null ? `portal:${sessionId}` : `apiKey:${keyId}`,
  scopes,
  openedBy: keyId,
  sessionId,
});
