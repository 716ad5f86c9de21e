import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatsOf } from '../../../portal/src/frame/formats.js';
import { readAssets, Sender, type Site } from '../../../portal/src/frame/send.js';
import { TEXTS } from '../../../portal/src/texts/texts.js';
import { OpsError, print, tell } from '../output.js';
import { type Session, withSession } from '../session.js';
import { type ConsolePage, type ConsoleVisit, PAGES } from './pages.js';
import type { Command } from 'commander';
import { wholeFrom } from '../commands/options.js';
import { parseZone } from '../commands/workspace.js';

/** Only this machine reaches it. There is no setting for another address. */
const ADDRESS = '127.0.0.1';
const LINK_MS = 60_000;
const LONGEST_MS = 8 * 3_600_000;
const MOST_CONNECTIONS = 50;
const REQUEST_WITHIN_MS = 10_000;
/** Browsers send a cookie to every port of a machine, but only below its path, which nobody else knows. */
const COOKIE = 'console';

const SITE = { language: 'en', name: 'Operator console' } as const;
const texts = TEXTS[SITE.language];

/** What people read who are not in. */
const SAID = {
  entered: { title: 'You are signed in', text: 'The console opens now.' },
  linkEnded: {
    title: 'This link does not work',
    text: 'A link to the console works once, within 60 seconds. Start ops console again for another one.',
  },
  notIn: {
    title: 'You are not in',
    text: 'Open the link that ops console printed. It works once; start the command again for another one.',
  },
  wrongHost: {
    title: 'This is not the address of the console',
    text: 'Open it under the very address that ops console printed.',
  },
  noPage: { title: 'There is no such page', text: 'Open the console, and choose a page there.' },
  unavailable: texts.unavailable,
} as const;

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
const isSame = (one: string, other: string): boolean => timingSafeEqual(hash(one), hash(other));

/** The operators' pages, for one person: whoever opens the link. */
class Console {
  private readonly home = `/${random(9)}`;
  private readonly token = random(32);
  private readonly secret = random(32);
  private readonly startedAt = Date.now();
  private isUsed = false;
  private readonly assets = readAssets(this.home);
  private readonly sender = new Sender(this.assets.paths, []);
  private readonly shared: Omit<ConsoleVisit, 'path' | 'query'>;
  private readonly server = createServer((request, response) => void this.listen(request, response));
  private end: (error?: Error) => void = () => undefined;
  private timers: readonly NodeJS.Timeout[] = [];

  /** @param port 0: a free one */
  constructor(
    private readonly session: Session,
    private readonly port: number,
    timeZone: string,
  ) {
    const formats = formatsOf(SITE.language, timeZone);
    this.shared = { session, texts, formats };
  }

  /** @returns the link, and what resolves when the console has ended @throws OpsError when the port is taken */
  async open() {
    this.server.maxConnections = MOST_CONNECTIONS;
    this.server.requestTimeout = REQUEST_WITHIN_MS;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', ({ message }) =>
        reject(new OpsError(`The console cannot listen: ${message}.`)),
      );
      this.server.listen(this.port, ADDRESS, resolve);
    });
    const ended = new Promise<void>((resolve, reject) => {
      this.end = (error) => (error ? reject(error) : resolve());
    });
    const unused = () =>
      this.isUsed || this.end(new OpsError('Nobody opened the link within 60 s. The console has ended.'));
    this.timers = [setTimeout(unused, LINK_MS), setTimeout(() => this.end(), LONGEST_MS)];
    return {
      url: `${this.origin}${this.home}/enter/${this.token}`,
      urlExpiresAt: new Date(this.startedAt + LINK_MS).toISOString(),
      endsAt: new Date(this.startedAt + LONGEST_MS).toISOString(),
      ended,
    };
  }

  /** Ends the console: its link and its cookie are worth nothing any more. */
  close(): void {
    this.timers.forEach(clearTimeout);
    this.server.close();
    this.server.closeAllConnections();
    this.end();
  }

  private get host(): string {
    return `${ADDRESS}:${(this.server.address() as AddressInfo).port}`;
  }
  private get origin(): string {
    return `http://${this.host}`;
  }

  private async listen(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.sender.guard(response);
    try {
      await this.answer(request, response);
    } catch (error) {
      tell(`A page of the console failed: ${error instanceof Error ? error.message : 'error'}`);
      this.outside(response, 503, 'unavailable');
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A name that a stranger's page has made lead here (DNS rebinding) is another host.
    if (request.headers.host !== this.host) return this.outside(response, 421, 'wrongHost');
    const url = request.url?.startsWith('/') ? request.url : '/';
    const { pathname, searchParams } = new URL(`${this.origin}${url}`);
    const asset = this.assets.documents.find(({ path }) => path === pathname);
    if (asset) {
      response.setHeader('Content-Type', asset.mediaType);
      response.setHeader('Cache-Control', asset.cacheControl);
      response.end(asset.bytes);
      return;
    }
    if (pathname.startsWith(`${this.home}/enter/`)) return this.enter(request, response, pathname);
    if (!this.isIn(request)) return this.outside(response, 401, 'notIn');
    const page = PAGES.find((one) => this.pathOf(one) === pathname);
    if (!page) return this.outside(response, 404, 'noPage', true);
    const visit: ConsoleVisit = { ...this.shared, path: pathname, query: searchParams };
    const view = { title: page.title, ...(await page.show(visit)) };
    const site: Site = {
      ...SITE,
      home: this.home,
      about: this.session.actor,
      areas: PAGES.map((one) => ({ label: one.title, href: this.pathOf(one), isCurrent: one === page })),
    };
    this.sender.page(response, 200, site, { visit }, view, null);
  }

  /** Takes the link once. A browser that fetches ahead, or asks only for the head, does not use it up. */
  private enter(request: IncomingMessage, response: ServerResponse, pathname: string): void {
    if (request.method !== 'GET' || request.headers['sec-purpose'] !== undefined) {
      response.writeHead(204).end();
      return;
    }
    const given = pathname.slice(`${this.home}/enter/`.length);
    const isLate = Date.now() > this.startedAt + LINK_MS;
    if (this.isUsed || isLate || !isSame(given, this.token)) return this.outside(response, 410, 'linkEnded');
    this.isUsed = true;
    const seconds = Math.floor((this.startedAt + LONGEST_MS - Date.now()) / 1_000);
    response.setHeader(
      'Set-Cookie',
      `${COOKIE}=${this.secret}; Path=${this.home}; Max-Age=${seconds}; HttpOnly; SameSite=Strict`,
    );
    // Not a redirect: browsers send a strict cookie only from a page of its own site.
    response.setHeader('Refresh', `0; url=${this.home}`);
    this.outside(response, 200, 'entered', true);
  }

  private isIn({ headers }: IncomingMessage): boolean {
    return (headers.cookie ?? '').split(/; */).some((one) => isSame(one, `${COOKIE}=${this.secret}`));
  }

  private pathOf({ path }: ConsolePage): string {
    return path === '' ? this.home : `${this.home}/${path}`;
  }

  private outside(
    response: ServerResponse,
    status: number,
    said: keyof typeof SAID,
    linksHome?: boolean,
  ): void {
    const link = linksHome ? { href: this.home, label: 'Open the console' } : undefined;
    this.sender.outside(response, status, SITE, SAID[said], link);
  }
}

const addConsoleCommand = (console: Command): void => {
  console
    .option('--port <port>', 'port on 127.0.0.1; default: a free one', wholeFrom(1, 65_535), 0)
    .option('--zone <zone>', 'time zone of the pages, as Europe/Paris', parseZone, 'UTC')
    .addHelpText(
      'after',
      `
Only this machine reaches the pages. The link works once, within 60 seconds. The console ends with Ctrl-C, after 8 hours,
or when nobody opens the link.

Example:
  ops console --port 8500     then, elsewhere: ssh -L 8500:127.0.0.1:8500 <this machine>`,
    )
    .action(async ({ port, zone }: { port: number; zone: string }, command: Command) => {
      await withSession(async (session) => {
        const pages = new Console(session, port, zone);
        const { ended, ...link } = await pages.open();
        const stop = (): void => pages.close();
        process.once('SIGINT', stop).once('SIGTERM', stop);
        try {
          print(command, link, link.url);
          await ended;
        } finally {
          process.off('SIGINT', stop).off('SIGTERM', stop);
          pages.close();
        }
      });
    });
};

export const commands = { console: addConsoleCommand };
