import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { PortalLanguage } from '#workspaces/contracts/index.js';
import { TEXTS } from '../texts/texts.js';
import { type Download, type Shown, ShownContext, type View } from './page.js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { StaticDocument } from '#platform/http/send-json.js';
import { projectPath } from '#platform/project-path.js';

export interface Document {
  readonly language: PortalLanguage;
  readonly title: string;
  /** Addresses with the hashes of their contents. */
  readonly assets: Assets;
  readonly refreshSeconds?: number | undefined;
  readonly children: ComponentChildren;
}

/** The HTML document around everything. Nothing is inline: the policy of the page forbids it. */
export const Document = ({ language, title, assets, refreshSeconds, children }: Document) => (
  <html lang={language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content="light dark" />
      {refreshSeconds !== undefined && (
        // The script does it better: the person keeps the place and what is typed.
        <noscript>
          <meta http-equiv="refresh" content={String(refreshSeconds)} />
        </noscript>
      )}
      <title>{title}</title>
      <link rel="stylesheet" href={assets.style} />
      <link rel="icon" href={assets.icon} />
      <script type="module" src={assets.script} />
    </head>
    <body
      data-copy={TEXTS[language].copy}
      data-copied={TEXTS[language].copied}
      data-stale={TEXTS[language].stale}
    >
      {children}
      <p id="told" class="hidden" role="status" />
    </body>
  </html>
);

/** What is around every page of a site. */
export interface Site {
  readonly language: PortalLanguage;
  readonly name: string;
  readonly home: string;
  /** Whose site it is, such as a workspace. */
  readonly about: string;
  /** The navigation, in its order. */
  readonly areas: readonly { readonly label: string; readonly href: string; readonly isCurrent: boolean }[];
  /** What is at hand on every page. */
  readonly tools?: ComponentChildren;
  /** What every page says above its title. */
  readonly notice?: ComponentChildren;
}

/** The frame of every page of a signed-in person. */
const Frame = ({
  site,
  title,
  done,
  refreshSeconds,
  children,
}: {
  readonly site: Site;
  readonly title: string;
  /** What the last action did. */
  readonly done: string | null;
  readonly refreshSeconds?: number | undefined;
  readonly children: ComponentChildren;
}) => {
  const { skip, navigation } = TEXTS[site.language];
  return (
    <>
      <a class="skip" href="#content">
        {skip}
      </a>
      <header class="top">
        <a class="brand" href={site.home}>
          {site.name}
        </a>
        <span class="soft">{site.about}</span>
        {site.tools}
      </header>
      <nav class="areas" aria-label={navigation}>
        <ul>
          {site.areas.map(({ label, href, isCurrent }) => (
            <li>
              <a href={href} aria-current={isCurrent ? 'page' : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1} data-refresh={refreshSeconds}>
        {site.notice}
        <h1>{title}</h1>
        {done !== null && (
          <p class="done" role="status">
            {done}
          </p>
        )}
        {children}
      </main>
    </>
  );
};

/** A page for somebody who is not signed in, in their language. */
const Outside = ({
  title,
  text,
  link,
  send,
}: {
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly href: string; readonly label: string } | undefined;
  /** Of a button that sends the page's question back, agreed to. */
  readonly send?: string;
}) => (
  <main id="content" class="outside">
    <h1>{title}</h1>
    <p>{text}</p>
    {link && (
      <p>
        <a href={link.href}>{link.label}</a>
      </p>
    )}
    {send && (
      <form method="post">
        <button type="submit">{send}</button>
      </form>
    )}
  </main>
);

/** What a page may load and do: its own style, script and icon, forms to itself, and nothing inline. */
const policy = (frameAncestors: readonly string[]): string =>
  [
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'",
    `form-action 'self'; base-uri 'none'; frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
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

/** An address has the hash of its contents, so browsers need not ask again. */
const FOR_A_YEAR = 'public, max-age=31536000, immutable';

const asset = (home: string, name: string, mediaType: string): StaticDocument => {
  const bytes = readFileSync(projectPath('apps/portal/assets', name));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return { path: `${home}/assets/${hash}-${name}`, mediaType, cacheControl: FOR_A_YEAR, bytes };
};

/**
 * Reads what every page loads: the style, the icon and the script.
 * @param home the path of the site, without a slash at its end
 */
export const readAssets = (home: string) => {
  const style = asset(home, 'portal.css', 'text/css; charset=utf-8');
  const icon = asset(home, 'mark.svg', 'image/svg+xml');
  const script = asset(home, 'portal.js', 'text/javascript; charset=utf-8');
  return {
    documents: [style, icon, script],
    paths: { style: style.path, icon: icon.path, script: script.path },
  };
};

export type Assets = ReturnType<typeof readAssets>['paths'];
