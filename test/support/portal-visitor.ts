import type { Stack } from './index.js';

export interface PortalAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A person with a browser without JavaScript: keeps cookies, follows no redirect by itself, sends forms with their origin. */
export class PortalVisitor {
  private readonly cookies = new Map<string, string>();

  constructor(readonly baseUrl: string) {}

  /** Signs in by a link that an operator makes. @param options of `ops portal link` */
  static async signedIn(
    stack: Stack,
    workspaceId: string,
    ...options: readonly string[]
  ): Promise<PortalVisitor> {
    const visitor = new PortalVisitor(stack.baseUrl);
    await visitor.enter(await visitor.linkOf(stack, workspaceId, ...options));
    return visitor;
  }

  /** @returns the path of a link that has not been used */
  async linkOf(stack: Stack, workspaceId: string, ...options: readonly string[]): Promise<string> {
    const link = await stack.ops(['portal', 'link', '--workspace', workspaceId, ...options]);
    return new URL((link as { url: string }).url).pathname;
  }

  /** Agrees to what the page of a link asks, and looks at the page that it leads to. */
  enter(link: string): Promise<PortalAnswer> {
    return this.submit(link, {});
  }

  /** Follows redirects, as a browser does after a link or a form. */
  async follow(path: string): Promise<PortalAnswer> {
    let answer = await this.get(path);
    while (answer.status === 303) answer = await this.get(answer.headers.get('location')!);
    return answer;
  }

  get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<PortalAnswer> {
    return this.send(path, { method, headers });
  }

  /** Sends a form of a page. @param origin of that page; null: the browser names none */
  post(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>> = {},
    origin: string | null = this.baseUrl,
  ): Promise<PortalAnswer> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields))
      for (const one of [value].flat()) body.append(name, one);
    return this.postRaw(path, body.toString(), origin);
  }

  /** Sends the body of a form as it stands. */
  postRaw(path: string, body: string, origin: string | null = this.baseUrl): Promise<PortalAnswer> {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(origin !== null && { origin }),
    };
    return this.send(path, { method: 'POST', body, headers });
  }

  /** Sends the form and looks at the page that it leads to. */
  async submit(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<PortalAnswer> {
    const answer = await this.post(path, fields);
    return answer.status === 303 ? this.follow(answer.headers.get('location')!) : answer;
  }

  private async send(path: string, init: RequestInit): Promise<PortalAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.baseUrl + path, {
      ...init,
      redirect: 'manual',
      headers: {
        ...(init.headers as Record<string, string>),
        ...(cookie && { cookie }),
        // The server may close an idle connection at the moment at which a kept one is used again.
        connection: 'close',
      },
    });
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (/; Max-Age=0;/.test(one)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

/** The hidden fields of the form with this action, as a browser would send them. */
export const hiddenFields = (page: string, action: string): Record<string, string> => {
  const form = page.split('<form').find((one) => one.includes(`name="action" value="${action}"`)) ?? '';
  return Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name!,
      value!.replaceAll('&quot;', '"'),
    ]),
  );
};
