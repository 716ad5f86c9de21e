import type { ComponentChildren } from 'preact';
import type { Assets } from './assets.js';
import { AREAS } from './areas.js';
import { useVisit } from './context.js';
import { TEXTS } from '../texts/texts.js';
import type { PortalLanguage } from '@app/workspaces/contracts/index.js';
import type { Area } from './page.js';

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
      {assets.script !== null && <script type="module" src={assets.script} />}
    </head>
    <body data-copy={TEXTS[language].copy} data-copied={TEXTS[language].copied}>
      {children}
    </body>
  </html>
);

/** The frame of every page of a signed-in person. */
export const Frame = ({
  area,
  title,
  done,
  refreshSeconds,
  children,
}: {
  readonly area: Area | null;
  readonly title: string;
  /** What the last action did. */
  readonly done: string | null;
  readonly refreshSeconds?: number | undefined;
  readonly children: ComponentChildren;
}) => {
  const { texts, session, may } = useVisit();
  return (
    <>
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <header class="top">
        <a class="brand" href="/portal">
          {texts.portal}
        </a>
        <span class="soft">{session.workspaceId}</span>
        {session.modes.length > 1 && <ModeSwitch />}
        {session.returnUrl !== null && <a href={session.returnUrl}>{texts.back}</a>}
        <form method="post" action="/portal/sign-out">
          <button type="submit" class="quiet">
            {texts.signOut}
          </button>
        </form>
      </header>
      <nav class="areas" aria-label={texts.navigation}>
        <ul>
          {AREAS.filter(({ needs }) => needs === undefined || may(needs)).map(({ area: one, path }) => (
            <li>
              <a href={`/portal${path}`} aria-current={one === area ? 'page' : undefined}>
                {texts.areas[one]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1} data-refresh={refreshSeconds}>
        {session.mode === 'test' && <p class="test-mode">{texts.testMode}</p>}
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

const ModeSwitch = () => {
  const { texts, session } = useVisit();
  const other = session.mode === 'live' ? 'test' : 'live';
  return (
    <form method="post" action="/portal/mode">
      <input type="hidden" name="mode" value={other} />
      <button type="submit" class="quiet">
        {other === 'test' ? texts.toTestMode : texts.toLiveMode}
      </button>
    </form>
  );
};

/** A page for somebody who is not signed in, in their language. */
export const Outside = ({
  title,
  text,
  link,
}: {
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly href: string; readonly label: string } | undefined;
}) => (
  <main id="content" class="outside">
    <h1>{title}</h1>
    <p>{text}</p>
    {link && (
      <p>
        <a href={link.href}>{link.label}</a>
      </p>
    )}
  </main>
);
