import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Assets } from './assets.js';
import { ShownContext, type Shown } from './context.js';
import { Document, Frame, Outside, type Site } from './layout.js';
import type { Download, View } from './page.js';

/** What a page may load and do: its own style, script and icon, forms to itself, and nothing inline. */
const policy = (frameAncestors: readonly string[]): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
  ].join('; ');

/** Ends quietly when the receiver leaves. */
const passedOn = (content: AsyncIterable<string>, response: ServerResponse): Promise<void> =>
  pipeline(content, response).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });

/** How the answers of a site are written. */
export class Sender {
  private readonly policy: string;

  constructor(
    private readonly assets: Assets,
    frameAncestors: readonly string[],
  ) {
    this.policy = policy(frameAncestors);
  }

  /** The headers of every answer. With `no-referrer`, browsers would send no `Origin` with forms. */
  guard(response: ServerResponse): void {
    response.setHeader('Content-Security-Policy', this.policy);
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Referrer-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('X-Robots-Tag', 'noindex, nofollow');
  }

  /** A page of a signed-in person. @param done what the last action did */
  page(
    response: ServerResponse,
    status: number,
    site: Site,
    shown: Shown,
    { title, body, refreshSeconds }: View,
    done: string | null = null,
  ): void {
    this.html(
      response,
      status,
      <ShownContext.Provider value={shown}>
        <Document
          language={site.language}
          title={`${title} – ${site.name}`}
          assets={this.assets}
          refreshSeconds={refreshSeconds}
        >
          <Frame site={site} title={title} done={done} refreshSeconds={refreshSeconds}>
            {body}
          </Frame>
        </Document>
      </ShownContext.Provider>,
    );
  }

  /** A page for somebody who is not signed in. */
  outside(
    response: ServerResponse,
    status: number,
    { language, name }: Pick<Site, 'language' | 'name'>,
    said: Parameters<typeof Outside>[0],
    link?: { readonly href: string; readonly label: string },
  ): void {
    // Every 401 has a challenge (RFC 9110, 15.5.2). Browsers know no scheme of this name, and show the page.
    if (status === 401) response.setHeader('WWW-Authenticate', 'Cookie realm="portal"');
    this.html(
      response,
      status,
      <Document language={language} title={`${said.title} – ${name}`} assets={this.assets}>
        <Outside {...said} link={link} />
      </Document>,
    );
  }

  /** Parts are asked for as the receiver takes them. A failure on the way cuts the answer off, which shows. */
  async download(response: ServerResponse, { content, mediaType, fileName }: Download): Promise<void> {
    response.setHeader('Content-Type', mediaType);
    response.setHeader('Content-Disposition', `attachment; filename="${fileName}"`);
    if (!Buffer.isBuffer(content)) return await passedOn(content, response);
    response.setHeader('Content-Length', content.length);
    response.end(content);
  }

  private html(response: ServerResponse, status: number, page: VNode): void {
    const text = `<!doctype html>${renderToString(page)}`;
    response.statusCode = status;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(text);
  }
}
