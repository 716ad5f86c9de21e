import type { ComponentChildren } from 'preact';
import type { Assets } from './assets.js';
import { TEXTS } from '../texts/texts.js';
import type { Form } from './form.js';
import type { PortalLanguage } from '#workspaces/contracts/index.js';

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
export const Frame = ({
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
export const Outside = ({
  title,
  text,
  link,
  form,
  send,
}: {
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly href: string; readonly label: string } | undefined;
  /** What was typed, to be sent from here to the same page. */
  readonly form?: Form;
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
    {form && (
      <form method="post">
        {[...form.values].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <button type="submit">{send}</button>
      </form>
    )}
  </main>
);
