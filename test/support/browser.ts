import { existsSync } from 'node:fs';
import { describe } from '@jest/globals';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const EXECUTABLE = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path && existsSync(path));

/** Describes tests in a browser. Where there is none, they are skipped, and the name says so. */
export const describeInBrowser = (name: string, tests: () => void): void =>
  EXECUTABLE === undefined
    ? describe.skip(`${name} (skipped: there is no Chromium; install it or name it in CHROMIUM)`, tests)
    : describe(name, tests);

/** How long a test waits for the browser and for a page. Generous: a slow machine is not a failure. */
const PATIENCE_MS = 300_000;

/** What a page said that a sound page does not say. */
export class Complaints {
  readonly all: string[] = [];

  constructor(
    context: BrowserContext,
    private readonly origin: string,
  ) {
    context.on('console', (message) => {
      // A page may answer with a status that is an error. Everything else on the console is one of the page.
      if (message.type() === 'error' && !/the server responded with a status of [45]/.test(message.text()))
        this.all.push(`console: ${message.text()}`);
    });
    context.on('weberror', (error) => this.all.push(`error: ${error.error().message}`));
    // What the policy forbids does not go out: it is on the console.
    context.on('request', (request) => {
      if (!request.url().startsWith(`${this.origin}/portal`)) this.all.push(`request: ${request.url()}`);
    });
  }
}

export interface BrowserOptions {
  readonly javaScript?: boolean;
  readonly colorScheme?: 'light' | 'dark';
  readonly language?: string;
}

/** A browser, with a profile of its own for each person. */
export class Browsers {
  private constructor(private readonly browser: Browser) {}

  static async start(): Promise<Browsers> {
    // Chromium's own sandbox needs rights that containers seldom have. It opens pages of this test alone.
    const browser = await chromium.launch({
      executablePath: EXECUTABLE!,
      args: ['--no-sandbox'],
      timeout: PATIENCE_MS,
    });
    return new Browsers(browser);
  }

  async person(
    origin: string,
    { javaScript = true, colorScheme = 'light', language = 'en' }: BrowserOptions = {},
  ): Promise<{ readonly page: Page; readonly context: BrowserContext; readonly complaints: Complaints }> {
    const context = await this.browser.newContext({
      baseURL: origin,
      javaScriptEnabled: javaScript,
      colorScheme,
      locale: language,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const complaints = new Complaints(context, origin);
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    return { page, context, complaints };
  }

  stop(): Promise<void> {
    return this.browser.close();
  }
}
