import { h, type ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { ApiQuery } from '../frame/api.js';
import { type Failed, type Page, ShownContext, type View, type Visit } from '../frame/page.js';
import { formatsOf } from '../frame/formats.js';
import { TEXTS } from '../texts/texts.js';

interface Stand {
  /** What the API answers to a GET, or how it refuses. Lists are empty by default. */
  readonly get?: (path: string, query: ApiQuery) => unknown;
  /** What a query answers, by the name of its class. Lists are empty by default. */
  readonly query?: (name: string) => unknown;
  /** Throws when the session has ended. */
  readonly stands?: () => void;
  readonly params?: Readonly<Record<string, string>>;
}

/** A visit in English, in UTC, of a live session `ps_own` that may do everything. */
export const visitTo = ({ get, query, stands, params = {} }: Stand): Visit =>
  ({
    session: {
      ...{ mode: 'live', workspaceId: 'ws_1', sessionId: 'ps_own', language: 'en', timeZone: 'UTC' },
      ...{ scopes: [], expiresAt: '2099-01-01T00:00:00.000Z' },
    },
    api: {
      get: async (path: string, asked: ApiQuery = {}) => get?.(path, asked) ?? { data: [] },
      requireStanding: async () => stands?.(),
    },
    queries: { execute: async (asked: object) => query?.(asked.constructor.name) ?? [] },
    texts: TEXTS.en,
    formats: formatsOf('en', 'UTC'),
    path: '/portal',
    params,
    query: new URLSearchParams(),
    may: () => true,
    charge: async () => undefined,
  }) as unknown as Visit;

/** The HTML of a part of a page. */
export const rendered = (visit: Visit, part: ComponentChildren, failed?: Failed): string =>
  renderToString(h(ShownContext.Provider, { value: { visit, failed } }, part));

/** The HTML of a page's body. */
export const shown = async (page: Page, visit: Visit): Promise<string> =>
  rendered(visit, ((await page.show(visit)) as View).body);

/** The rows of its tables, with those of their heads. */
export const rowsOf = (html: string): string[] =>
  html
    .split('<tr>')
    .slice(1)
    .map((row) => row.slice(0, row.indexOf('</tr>')));
