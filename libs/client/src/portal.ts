import type { OpenedPortalSession, OpenPortalSession, PortalSession } from './api.js';
import { everything, type PageOptions } from './pages.js';
import type { CallOptions, PostOptions, Transport } from './transport.js';

const PATH = '/api/v1/portal/sessions';

/** Sessions of the workspace portal. Requires an API key with the scope `portal:write`. */
export class Portal {
  constructor(private readonly transport: Transport) {}

  /**
   * Opens a session: send the person's browser to `url`, which works once within 60 seconds. It is missing from the answer
   * to a repeated request with your own key.
   */
  open(
    body: Pick<OpenPortalSession, 'scopes'> & Partial<OpenPortalSession>,
    options: PostOptions = {},
  ): Promise<OpenedPortalSession> {
    return this.transport.post(PATH, body, options);
  }

  /** The sessions of the workspace, newest first, without their links. */
  list(options: PageOptions = {}): AsyncGenerator<PortalSession> {
    return everything(this.transport, PATH, { ...options });
  }

  /** Ends a session before its time. */
  end(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.transport.delete(`${PATH}/${encodeURIComponent(sessionId)}`, options);
  }
}
